"""Question networks: the language, the random generator, TD targets and exact answers. NumPy only."""

from rgvf.questions.catalog import (
    MHVP_DISCOUNTS,
    discounted_sum,
    figure_1a,
    full_tree,
    horizon_discounts,
    multi_horizon_values,
    reward_prediction,
    shallow,
    termination_prediction,
    union,
)
from rgvf.questions.exact import FiniteMDP, exact_answers
from rgvf.questions.generator import action_values, random_discounted_sums, random_network, random_shallow
from rgvf.questions.network import QuestionNetwork
from rgvf.questions.targets import NEVER, UNCONDITIONED, EdgeTable, mask, pad_table, targets
from rgvf.questions.terms import Future, Term, futures
from rgvf.questions.unroll import Plan, plans

__all__ = [
    "MHVP_DISCOUNTS",
    "NEVER",
    "UNCONDITIONED",
    "EdgeTable",
    "FiniteMDP",
    "Future",
    "Plan",
    "QuestionNetwork",
    "Term",
    "action_values",
    "discounted_sum",
    "exact_answers",
    "figure_1a",
    "full_tree",
    "futures",
    "horizon_discounts",
    "mask",
    "multi_horizon_values",
    "pad_table",
    "plans",
    "random_discounted_sums",
    "random_network",
    "random_shallow",
    "reward_prediction",
    "shallow",
    "targets",
    "termination_prediction",
    "union",
]
