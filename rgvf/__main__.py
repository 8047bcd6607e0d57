"""`python -m rgvf` is the command `rgvf`."""

import sys

from rgvf.cli.main import main

sys.exit(main())
