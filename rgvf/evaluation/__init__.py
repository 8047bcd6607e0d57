"""What a trained agent can do: whole games for a score, and one game as a recording."""

from rgvf.evaluation.evaluate import evaluate
from rgvf.evaluation.play_out import SavedGame, play_out
from rgvf.evaluation.record import Recording, record
from rgvf.evaluation.shown import Shown, choose, shown

__all__ = ["Recording", "SavedGame", "Shown", "choose", "evaluate", "play_out", "record", "shown"]
