"""Agents: a representation, the tasks that learn from it, and the one update that trains both."""

from rgvf.agents.acting import actor_of, predict, sample_actions
from rgvf.agents.balance import Balance
from rgvf.agents.build import make_learner, make_networks
from rgvf.agents.config import MAIN, STOPPED, AgentConfig
from rgvf.agents.learner import REPRESENTATION, Agent, Learner, OptimisedTask
from rgvf.agents.optimisers import auxiliary_optimiser, main_optimiser

__all__ = [
    "MAIN",
    "REPRESENTATION",
    "STOPPED",
    "Agent",
    "AgentConfig",
    "Balance",
    "Learner",
    "OptimisedTask",
    "actor_of",
    "auxiliary_optimiser",
    "main_optimiser",
    "make_learner",
    "make_networks",
    "predict",
    "sample_actions",
]
