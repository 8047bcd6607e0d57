"""Calling the command line in this process."""

from rgvf.cli import main


def run(capsys, *arguments):
    """The exit status of `rgvf ARGUMENTS`, and what it printed (`out` and `err`)."""
    try:
        status = main(arguments)
    except SystemExit as stop:  # the option parser's own, for --help
        status = stop.code
    return status, capsys.readouterr()


def words(text):
    """The text on one line, without the frames of tables."""
    return " ".join(text.replace("│", " ").split())
