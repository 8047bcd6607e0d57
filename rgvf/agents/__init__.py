"""Agents: a representation, what it is used for, and the one update that trains both."""

from rgvf.agents.learner import REPRESENTATION, Agent, Learner, Trained
from rgvf.agents.value import ValueTask

__all__ = ["REPRESENTATION", "Agent", "Learner", "Trained", "ValueTask"]
