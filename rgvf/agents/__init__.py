"""Agents: a representation, what it is used for, and the one update that trains both."""

from rgvf.agents.a2c import A2CTask, ActorCritic
from rgvf.agents.asked import make_questions, question_networks
from rgvf.agents.build import acting_part, make_learner
from rgvf.agents.config import MAIN, AgentConfig
from rgvf.agents.learner import REPRESENTATION, Agent, Learner, Trained
from rgvf.agents.tasks import TASKS
from rgvf.agents.value import ValueTask
from rgvf.agents.world import World

__all__ = [
    "MAIN",
    "REPRESENTATION",
    "TASKS",
    "A2CTask",
    "ActorCritic",
    "Agent",
    "AgentConfig",
    "Learner",
    "Trained",
    "ValueTask",
    "World",
    "acting_part",
    "make_learner",
    "make_questions",
    "question_networks",
]
