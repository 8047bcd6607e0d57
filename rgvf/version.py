"""The version of rgvf."""

__version__ = "0.2.0"
