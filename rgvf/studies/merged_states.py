"""The error that remains where states with the same answers share one value, by computation."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from rgvf.features import Feature
from rgvf.questions import QuestionNetwork, exact_answers
from rgvf.studies.grid_agents import GridConfig
from rgvf.trajectory import Transition


def merged_states_error(config: GridConfig, network: QuestionNetwork, feature: Feature) -> float:
    """The error of the values if states with the same answers are merged into one.

    A representation that keeps only what its answers need ends there: at the fixed point of TD with one value for each
    set of states whose true answers agree. Under the uniformly random policy all states are
    visited equally often.
    """
    room = config.room
    mdp, policy = room.mdp(), room.uniform_policy()
    arrivals = mdp.transition.argmax(-1)  # the room is deterministic
    views, actions = jnp.asarray(room.views), jnp.broadcast_to(jnp.arange(len(room.actions)), arrivals.shape)
    here = jnp.broadcast_to(views[:, None], (*arrivals.shape, *views.shape[1:]))
    seen = np.asarray(feature(Transition(here, actions, jnp.zeros(arrivals.shape), views[arrivals])), np.float64)
    features = {name: seen[:, :, k, None] for k, name in enumerate(feature.names)}
    answers = exact_answers(network, replace(mdp, features=features), policy)
    _, group = np.unique(answers.round(5), axis=0, return_inverse=True)
    member = np.eye(group.max() + 1)[group.ravel()]
    move = np.einsum("sa,sat->st", policy, mdp.transition)
    reward = move @ np.asarray(mdp.features["reward"], np.float64)
    values = member @ np.linalg.solve(member.T @ (member - config.discount * move @ member), member.T @ reward)
    return float(np.mean((values - room.values(config.discount)) ** 2))
