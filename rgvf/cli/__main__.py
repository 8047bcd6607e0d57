"""python -m rgvf.cli"""

import sys

from rgvf.cli.main import main

sys.exit(main())
