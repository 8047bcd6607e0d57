"""The command line, one file per command: parse, call, print."""

from rgvf.cli.main import main

__all__ = ["main"]
