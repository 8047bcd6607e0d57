import pytest

from rgvf.loops import seeds


@pytest.fixture
def stacked(monkeypatch):
    """Seeds are an axis of the arrays, as on a GPU."""
    monkeypatch.setattr(seeds, "stacking_is_faster", lambda: True)
