"""Kills, damaged files and senseless input: every outcome is the right result or one sentence, and nothing is left.

The whole takes about half an hour on two cores. `RGVF_FAULTS=0.1` runs a tenth of the cases.
"""
