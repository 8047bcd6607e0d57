"""From a configuration and the shape of the world to an agent."""

from __future__ import annotations

from jaxtyping import Array, Key

from rgvf.agents.a2c import A2CTask
from rgvf.agents.config import MAIN, AgentConfig
from rgvf.agents.learner import REPRESENTATION, Agent, Learner, Trained
from rgvf.agents.optimisers import auxiliary_optimiser, main_optimiser
from rgvf.agents.tasks import SMALL_IMAGE, TASKS
from rgvf.agents.world import World
from rgvf.networks import ConvRepresentation, ConvSize, DenseRepresentation, Representation


def make_learner(config: AgentConfig, world: World, seed: int) -> Learner:
    """The agent of one seed. Its `update` serves every seed with the same configuration."""
    main = A2CTask(len(world.actions), config.discount, config.entropy, config.value_weight, config.hidden)
    optimiser = main_optimiser(config.learning_rate, config.rms_decay, config.rms_epsilon, config.clip_norm)
    trained = [Trained(MAIN, main, optimiser, trains_representation=not config.stop_gradient)]
    for task, c in zip(config.tasks, config.mixing, strict=True):
        optimiser = auxiliary_optimiser(c * config.learning_rate, config.rms_decay, config.rms_epsilon)
        trained.append(Trained(task, TASKS[task](config, world, seed), optimiser))
    return Learner(lambda key: make_representation(config, world, key), trained)


def make_representation(config: AgentConfig, world: World, key: Key[Array, ""]) -> Representation:
    kind, shape = config.representation, world.observation_shape
    if kind == "auto":
        kind = "mlp" if not world.is_image else "conv" if min(shape[:2]) >= SMALL_IMAGE else "small-conv"
    if kind == "mlp":
        return DenseRepresentation(key, shape, (64, 64))
    image = world.image_shape(f"representation {kind}")
    if kind == "conv":
        return ConvRepresentation(key, image)
    return ConvRepresentation(key, image, (ConvSize(16, 3, 1),), (128,))


def acting_part(agent: Agent) -> Agent:
    """What is needed of an agent for choosing actions."""
    return Agent({name: agent.modules[name] for name in (REPRESENTATION, MAIN)}, {}, {})
