"""What an agent does with what it has learned: pure functions, to be jitted, vmapped and scanned."""

from __future__ import annotations

from typing import Any

import jax
from jaxtyping import Array, Float, Int, Key

from rgvf.agents.config import MAIN
from rgvf.agents.learner import REPRESENTATION, Agent
from rgvf.networks import has_memory
from rgvf.tasks import QuestionArrays
from rgvf.trajectory import Memory, Percept


def predict(agent: Agent, memory: Memory, percept: Percept) -> tuple[Memory, dict[str, Any]]:
    """The next memory, and all that the agent makes of what it gets.

    That is, by name: state, logits and policy (its probabilities), value, and answers by task. An agent without memory
    has the memory `()`, and percepts with any leading axes; of a percept it looks at the observation only. One with
    memory takes a step of B environments side by side:

        past = trained.begin(B)
        memory, predicted = predict(trained.agent, past.memory, past.percept(observation, first))
        past = past.after(memory, action, trained.config.rewards(reward))  # scaled and clipped as in training
    """
    if not isinstance(agent, Agent):
        raise TypeError(f"predict needs the parameters of an agent, not a {type(agent).__name__}: pass its `agent`")
    representation = agent.modules[REPRESENTATION]
    if has_memory(representation) and (percept.last_action is None or not jax.tree.leaves(memory)):
        how = "past = trained.begin(B), predict(agent, past.memory, past.percept(observation, first))"
        raise ValueError(f"this agent has memory, so it needs its past: {how}")
    memory, state = representation.step(memory, percept)
    logits, value = agent.modules[MAIN](state)
    with_questions = [task for task, carried in agent.task_states.items() if isinstance(carried, QuestionArrays)]
    answers = {task: agent.modules[task](state) for task in with_questions}
    policy = jax.nn.softmax(logits)
    return memory, {"state": state, "logits": logits, "policy": policy, "value": value, "answers": answers}


def sample_actions(agent: Agent, states: Float[Array, "B size"], key: Key[Array, ""]) -> Int[Array, " B"]:
    """Actions drawn from the agent's policy in these states."""
    logits, _ = agent.modules[MAIN](states)
    return jax.random.categorical(key, logits)


def actor_of(agent: Agent) -> Agent:
    """The part of an agent that chooses actions."""
    return Agent({name: agent.modules[name] for name in (REPRESENTATION, MAIN)}, {}, {})
