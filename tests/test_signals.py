"""Ctrl-C is obeyed between two updates, and acknowledged at once."""

import signal
import subprocess
import sys

import pytest

from rgvf.signals import ACKNOWLEDGED

BUSY = """
import hashlib, os, signal, threading
from rgvf.signals import GracefulStop

def later(seconds, number):
    threading.Timer(seconds, os.kill, (os.getpid(), number)).start()

with GracefulStop(lambda sentence: print(sentence, flush=True)):
    later(0.2, signal.SIGINT)
    later(0.6, signal.SIGINT)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes without an instruction of Python, as a compiler
"""


def test_signals_are_obeyed_while_the_interpreter_is_busy():
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, ACKNOWLEDGED + "\n")
    assert "stopped at once; the last checkpoint is kept" in done.stderr


KEPT = BUSY.replace("flush=True))", "flush=True), WORDS)")


@pytest.mark.parametrize(
    ("words", "shown"), [("lambda: 'all is well.'", "all is well."), ("lambda: 1 / 0", "the last checkpoint is kept.")]
)
def test_who_stops_at_once_hears_what_is_kept(words, shown):
    """Whatever goes wrong with that."""
    code = KEPT.replace("WORDS", words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, f"\nrgvf: stopped at once; {shown}\n")
