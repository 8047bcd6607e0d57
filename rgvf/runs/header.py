"""What a run says about itself before it starts."""

from __future__ import annotations

from rgvf.agents.build import agent_has_memory
from rgvf.environments import Environment, environment_spec, find_environment
from rgvf.runs.config import RunConfig
from rgvf.runs.folder import Networks
from rgvf.runs.provenance import device


def title(config: RunConfig) -> str:
    """The agent, the environment and the length of a run."""
    seeds = config.all_seeds
    which = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    return f"{config.agent.label} on {config.env}: {config.frames:,} frames, {which}"


def description(config: RunConfig, networks: Networks) -> str:
    """The questions, the representation if it is a special one, the environments and the device of a run."""
    found = networks[config.seed].values()
    questions = sum(len(network.predictions) for network in found)
    features = sum(len(network.features) for network in found)
    counts = f"{questions:,} question{'s' * (questions != 1)} about {features:,} feature{'s' * (features != 1)}, "
    about = counts if questions else ""
    kind = config.agent.representation
    network = "" if kind == "auto" else "a memory (gru), " if kind == "gru" else f"representation {kind}, "
    scale = "" if config.reward_scale == 1 else f"rewards × {config.reward_scale:g} for learning, "
    return f"{about}{network}{scale}{config.actors} environments for each seed, on {device()}"


def memory_note(config: RunConfig, environment: Environment | None = None) -> str:
    """Why a run's agents cannot learn to remember what the environment asks for, if so."""
    found = find_environment(config.env, environment)
    needed = getattr(found, "memory_steps", 0)
    if found is None or not needed:
        return ""
    if not agent_has_memory(config.agent, environment_spec(found)):
        return "what is seen here is needed later, and this agent has no memory: --representation gru gives it one"
    if config.steps < needed:
        return f"here an agent must remember for {needed:,} steps, and segments are {config.steps:,} steps: set --steps"
    return ""


def start_message(config: RunConfig) -> str:
    """What is being waited for while a run starts."""
    return f"starting {config.actors * config.seeds:,} environments"
