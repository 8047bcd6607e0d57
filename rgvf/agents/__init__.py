"""Agents: a representation, what it is used for, and the one update that trains both."""

from rgvf.agents.a2c import A2CTask, ActorCritic
from rgvf.agents.build import World, make_learner, make_questions
from rgvf.agents.config import AgentConfig
from rgvf.agents.learner import REPRESENTATION, Agent, Learner, Trained
from rgvf.agents.value import ValueTask

__all__ = [
    "REPRESENTATION",
    "A2CTask",
    "ActorCritic",
    "Agent",
    "AgentConfig",
    "Learner",
    "Trained",
    "ValueTask",
    "World",
    "make_learner",
    "make_questions",
]
