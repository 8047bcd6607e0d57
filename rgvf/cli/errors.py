"""What a command shows when it cannot do its work: one sentence, and no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rgvf.errors import UserError
from rgvf.messages import os_error


class CommandError(UserError):
    """A command failed; the message is one sentence for the user."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


@contextmanager
def command_errors() -> Iterator[None]:
    """Turn errors that a user can cause into a `CommandError`: status 2 for wrong requests, 1 for failures."""
    try:
        yield
    except CommandError:
        raise
    except ValueError as error:
        raise CommandError(str(error)) from None
    except UserError as error:
        raise CommandError(str(error), status=1) from None
    except OSError as error:
        raise CommandError(os_error(error), status=1) from None
