"""The true answers in a finite Markov decision process, by linear algebra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rgvf.questions.graph import QuestionGraph
from rgvf.questions.names import names_of


@dataclass(frozen=True)
class FiniteMDP:
    """A finite Markov decision process with named features of its transitions."""

    transition: np.ndarray
    """P(s' | s, a): [states, actions, states]."""
    features: Mapping[str, np.ndarray]
    """f(s, a, s') by name: [states, actions, states], or anything that broadcasts to it."""
    terminal: np.ndarray | None = None
    """[states], true where arriving ends the episode; None if nothing does."""
    actions: Sequence[str] = ()
    """Their names, in order. Without names, actions are those of the network, by their numbers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "transition", np.asarray(self.transition, float))
        if self.terminal is not None:
            object.__setattr__(self, "terminal", np.asarray(self.terminal, bool))
        if self.transition.ndim != 3 or self.transition.shape[0] != self.transition.shape[2]:
            raise ValueError(f"transition must be [states, actions, states], not {self.transition.shape}")
        states = len(self.transition)
        if (self.transition < 0).any() or not np.allclose(self.transition.sum(-1), 1):
            raise ValueError("each row of transition must be a probability distribution over next states")
        for name, values in self.features.items():
            try:
                np.broadcast_to(values, self.transition.shape)
            except ValueError:
                raise ValueError(
                    f"feature {name!r} has shape {np.shape(values)}; it must broadcast to {self.transition.shape}"
                ) from None
        object.__setattr__(self, "actions", names_of("action", self.actions))
        if self.actions and len(self.actions) != self.transition.shape[1]:
            raise ValueError(
                f"transition has {self.transition.shape[1]} actions, and there are {len(self.actions)} names"
            )
        if self.terminal is not None and self.terminal.shape != (states,):
            raise ValueError(f"terminal must have shape ({states},), not {self.terminal.shape}")


def exact_answers(network: QuestionGraph, mdp: FiniteMDP, policy: np.ndarray) -> np.ndarray:
    """The true value of every prediction node in every state.

    Solves y_i(s) = Σ_a p_i(a|s) Σ_s' P(s'|s,a) · (Σ_j W_ij · y_j(s') · [s' not terminal] + Σ_k W_ik · f_k(s,a,s'))
    where p_i is the policy, or certainty of the action that node i is conditioned on. Nodes that do not depend on
    each other are solved one after another, so the cost grows with the number of nodes, not its cube.

    Args:
        policy: π(a | s): [states, actions].

    Returns:
        [states, n_p]; 0 in terminal states.
    """
    states, actions, _ = mdp.transition.shape
    policy = np.asarray(policy, float)
    if policy.shape != (states, actions):
        raise ValueError(f"policy must have shape {(states, actions)}, not {policy.shape}")
    if (policy < 0).any() or not np.allclose(policy.sum(-1), 1):
        raise ValueError("each row of policy must be a probability distribution over actions")
    for feature in network.features:
        if feature not in mdp.features:
            raise ValueError(f"the MDP has no feature {feature!r}; it has {', '.join(sorted(mdp.features)) or 'none'}")

    numbers = _action_numbers(network, mdp)
    living = np.ones(states, bool) if mdp.terminal is None else ~mdp.terminal
    under_policy = np.einsum("sa,sat->st", policy, mdp.transition)
    expected = {  # E[f_k(s, a, S')]: [states, actions]
        name: (mdp.transition * np.broadcast_to(mdp.features[name], mdp.transition.shape)).sum(-1)
        for name in network.features
    }

    def conditioned(node: int) -> tuple[np.ndarray, np.ndarray]:
        """The moves between living states [L, L] and the action probabilities [L, A] that node asks under."""
        if network.conditions[node] is None:
            return under_policy[np.ix_(living, living)], policy[living]
        action = numbers[network.conditions[node]]
        return mdp.transition[:, action][np.ix_(living, living)], np.eye(actions)[np.full(living.sum(), action)]

    n, n_p = int(living.sum()), network.n_predictions
    answers = np.zeros((n, n_p))
    for part in network.components:
        place = {node: slice(i * n, (i + 1) * n) for i, node in enumerate(part)}
        inner = np.zeros((len(part) * n, len(part) * n))
        outer = np.zeros(len(part) * n)
        for node in part:
            move, acts = conditioned(node)
            for target, weight in network.outgoing[node]:
                if target in place:
                    inner[place[node], place[target]] += weight * move
                elif target < n_p:
                    outer[place[node]] += weight * move @ answers[:, target]
                else:
                    feature = network.features[target - n_p]
                    outer[place[node]] += weight * (acts * expected[feature][living]).sum(-1)
        if network.predictions[part[0]] in network.needs_termination and inner.any():
            _refuse_endless(inner, network.predictions[part[0]])
        solution = np.linalg.solve(np.eye(len(inner)) - inner, outer)
        for node in part:
            answers[:, node] = solution[place[node]]
    everywhere = np.zeros((states, n_p))
    everywhere[living] = answers
    return everywhere


def _action_numbers(network: QuestionGraph, mdp: FiniteMDP) -> dict[int | None, int]:
    """The MDP's number of each action that the network asks about: by name where both have names."""
    conditions = {action for action in network.conditions if action is not None}
    numbered = network.actions == names_of("action", len(network.actions))
    count = mdp.transition.shape[1]
    if not mdp.actions and not numbered and conditions and len(network.actions) != count:
        raise ValueError(
            f"the network has the actions {', '.join(network.actions)}, and the MDP has {count} without names; "
            "name them: FiniteMDP(…, actions=[…])"
        )
    found: dict[int | None, int] = {}
    for action in sorted(conditions):
        name, number = network.actions[action], action
        if mdp.actions and not numbered:
            number = mdp.actions.index(name) if name in mdp.actions else count
        if number >= count:
            node = network.predictions[network.conditions.index(action)]
            has = ", ".join(mdp.actions) or count
            raise ValueError(f"prediction node {node!r} is conditioned on action {name!r}; the MDP has {has}")
        found[action] = number
    return found


def _refuse_endless(inner: np.ndarray, node: str) -> None:
    if np.abs(np.linalg.eigvals(np.abs(inner))).max() > 1 - 1e-9:
        raise ValueError(
            f"prediction node {node!r} sums without a discount and episodes need not end in this MDP: "
            "it has no finite answer"
        )
