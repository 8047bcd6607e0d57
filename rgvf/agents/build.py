"""From a configuration and the spec of an environment to a learner."""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
from jaxtyping import Array, Key

from rgvf.agents.config import MAIN, AgentConfig
from rgvf.agents.learner import Learner, OptimisedTask
from rgvf.agents.optimisers import auxiliary_optimiser, main_optimiser
from rgvf.networks import Representation, Sizes, has_memory, make_representation
from rgvf.questions import QuestionNetwork
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import QuestionSettings


def make_networks(config: AgentConfig, spec: EnvironmentSpec, seed: int) -> dict[str, QuestionNetwork]:
    """The question networks of a seed, by task."""
    return {
        settings.name: settings.make_network(spec, seed)
        for settings in config.auxiliary
        if isinstance(settings, QuestionSettings)
    }


def make_learner(
    config: AgentConfig, spec: EnvironmentSpec, seed: int, networks: Mapping[str, QuestionNetwork]
) -> Learner:
    """The learner of one seed. Its `update` serves every seed with the same configuration.

    Args:
        networks: the question networks of the seed, by task, from `make_networks` or from a saved run.
    """
    optimiser = main_optimiser(config.learning_rate, config.rms_decay, config.rms_epsilon, config.clip_norm)
    main = config.actor_critic.make(spec, seed, config.hidden)
    tasks = [OptimisedTask(MAIN, main, optimiser, trains_representation=not config.stop_gradient)]
    for settings, c in zip(config.auxiliary, config.coefficients, strict=True):
        if isinstance(settings, QuestionSettings):
            task = settings.make(spec, seed, config.hidden, networks[settings.name])
        else:
            task = settings.make(spec, seed, config.hidden)
        optimiser = auxiliary_optimiser(c * config.learning_rate, config.rms_decay, config.rms_epsilon)
        tasks.append(OptimisedTask(settings.name, task, optimiser))
    balanced = config.question_tasks if config.learn_balance else ()
    return Learner(lambda key: _representation(config, spec, key), tasks, balanced)


def agent_has_memory(config: AgentConfig, spec: EnvironmentSpec) -> bool:
    """Whether an agent keeps anything from step to step. It makes no network."""
    return has_memory(eqx.filter_eval_shape(_representation, config, spec, jax.random.key(0)))


def _representation(config: AgentConfig, spec: EnvironmentSpec, key: Key[Array, ""]) -> Representation:
    sizes = Sizes(config.kernels, config.dense, config.memory)
    return make_representation(config.representation, spec, key, sizes)
