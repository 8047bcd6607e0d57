"""What a trained agent can do: whole games for a score, and one game as a recording."""

from rgvf.evaluation.evaluate import evaluate
from rgvf.evaluation.record import Recording, record

__all__ = ["Recording", "evaluate", "record"]
