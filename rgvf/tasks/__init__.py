"""Tasks: what an agent learns. Each is two functions, `init` and `loss`, and a dataclass of settings."""

from rgvf.tasks.actor_critic import ActorCritic, ActorCriticSettings, ActorCriticTask
from rgvf.tasks.answers import (
    AnswersTask,
    QuestionArrays,
    QuestionSettings,
    pad_questions,
    question_arrays,
)
from rgvf.tasks.curl import CURLSettings, CURLTask
from rgvf.tasks.fixed_questions import GivenQuestions, MultiHorizonValues, RewardPrediction, TerminationPrediction
from rgvf.tasks.pixel_control import PixelControlSettings, PixelControlTask
from rgvf.tasks.protocol import Metrics, Task, TaskSettings, View
from rgvf.tasks.random_questions import (
    ActionValues,
    ActionValuesNoActions,
    DiscountedSums,
    NoActions,
    RandomAndActionValues,
    RandomQuestions,
    Shallow,
)
from rgvf.tasks.registry import TASKS, find_task, register
from rgvf.tasks.returns import RELATIVE_ERROR, masked_mean, n_step_returns, td_loss, td_loss_and_relative_error
from rgvf.tasks.value import ValueTask

__all__ = [
    "RELATIVE_ERROR",
    "TASKS",
    "ActionValues",
    "ActionValuesNoActions",
    "ActorCritic",
    "ActorCriticSettings",
    "ActorCriticTask",
    "AnswersTask",
    "CURLSettings",
    "CURLTask",
    "DiscountedSums",
    "GivenQuestions",
    "Metrics",
    "MultiHorizonValues",
    "NoActions",
    "PixelControlSettings",
    "PixelControlTask",
    "QuestionArrays",
    "QuestionSettings",
    "RandomAndActionValues",
    "RandomQuestions",
    "RewardPrediction",
    "Shallow",
    "Task",
    "TaskSettings",
    "TerminationPrediction",
    "ValueTask",
    "View",
    "find_task",
    "masked_mean",
    "n_step_returns",
    "pad_questions",
    "question_arrays",
    "register",
    "td_loss",
    "td_loss_and_relative_error",
]
