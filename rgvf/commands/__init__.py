"""The commands of the command line, one file each: parse, call, print."""


class CommandError(Exception):
    """What was asked cannot be done; the message is one sentence for the user."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
