"""How fast agents train in MinAtar: `benchmarks/device.py`, with the games' own names.

.venv/bin/python benchmarks/minatar.py [--games Breakout …] [--seeds 1 10 100] [--seconds 5] …
"""

import argparse

from device import main

from rgvf.environments import MINATAR_GAMES

parser = argparse.ArgumentParser(description=__doc__, epilog="All other options are those of benchmarks/device.py.")
parser.add_argument("--games", nargs="+", default=list(MINATAR_GAMES))
known, others = parser.parse_known_args()
main(["--envs", *(f"minatar/{game}" for game in known.games), *others])
