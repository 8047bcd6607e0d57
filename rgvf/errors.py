"""What users can cause and mend: errors whose message is one sentence for them."""

from __future__ import annotations


class UserError(Exception):
    """Something cannot be done; the message says what and what to do about it."""
