"""What people see of a run."""

import io

from rich.console import Console

from rgvf.runs import RunProgress

LINES = [{"return": 1.5, "a2c/entropy": 0.5}]


def test_the_last_line_is_printed_where_the_output_is_a_file():
    output = io.StringIO()
    with RunProgress(Console(file=output), every=1e9) as progress:
        progress.progress(2000, 3000, 100.0, LINES)
        progress.progress(3400, 3000, 100.0, LINES)
    lines = output.getvalue().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["3k/3k"]
    assert "0:00 left" in lines[-1]  # frames are rounded up, and time is never negative


def test_a_reader_that_has_gone_does_not_end_a_run():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with RunProgress(Console(file=Gone()), every=0.0) as progress:
        progress.progress(1000, 3000, 100.0, LINES)
        progress.warn("still here")
        progress.progress(2000, 3000, 100.0, LINES)
