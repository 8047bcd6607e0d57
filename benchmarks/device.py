"""How fast agents train where the games are part of the compiled program.

    .venv/bin/python benchmarks/device.py [--envs minatar/Breakout craftax/Classic-Symbolic …] [--seeds 1 10 100]

Steps/s over all agents; 16 games an agent, 20 steps an update. By default the five MinAtar games. "Environment" is
random play in as many games, without any agent; what agents would see is computed. With --shapes, also rgvf at other
depths and repeats, with the middle number of seeds. With --together, also the agents of a study in one program, as many
seeds of each, beside the same one after another: those of `rgvf study minatar` or `rgvf study craftax`.
"""

import argparse
import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from rgvf.agents import STOPPED, AgentConfig
from rgvf.environments import MINATAR_GAMES, find_environment, find_spec, step_or_reset
from rgvf.loops import DeviceLoop, JointLoop, start
from rgvf.loops.device_loop import MAX_UPDATES
from rgvf.runs import RunConfig
from rgvf.runs.run import make_loop, prepare
from rgvf.studies import STUDIES, find_study
from rgvf.studies.reward_agents import COMBINATION, ONE_NETWORK, Setting, agent_config
from rgvf.tasks import RandomQuestions

ACTORS, STEPS = 16, 20
LABELS = {
    "a2c": "a2c",
    "rgvf": f"rgvf{STOPPED}",
    "two tasks": COMBINATION,
    "one network": f"{ONE_NETWORK}{STOPPED}",
}
"""Agents of `rgvf study minatar-reward`, by their names here; a cost is a2c's speed over an agent's."""


def rate(step, state, steps_each: int, seconds: float) -> float:
    """Steps/s of `state = step(state)`, once compiled."""
    state = jax.block_until_ready(step(state))
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        state = jax.block_until_ready(step(state))
        done += steps_each
    return done / (time.perf_counter() - began)


def environment_speed(env: str, n: int, seconds: float) -> float:
    environment = find_environment(env)
    assert environment is not None
    step_all = jax.vmap(partial(step_or_reset, environment))

    @jax.jit
    def play(carry):
        def one(carry, _):
            state, ended, _, key = carry
            key, action_key, step_key = jax.random.split(key, 3)
            action = jax.random.randint(action_key, (n,), 0, len(environment.actions))
            state, step = step_all(state, ended, action, jax.random.split(step_key, n))
            return (state, step.terminal | step.truncated, step.observation, key), None

        return jax.lax.scan(one, carry, None, length=100)[0]

    state, observation = jax.jit(jax.vmap(environment.reset))(jax.random.split(jax.random.key(0), n))
    return rate(play, (state, jnp.zeros(n, bool), observation, jax.random.key(1)), 100 * n, seconds)


def agent_of(env: str, label: str, setting: Setting, representation: str) -> AgentConfig:
    """An agent of `rgvf study minatar-reward`.

    Where the network is another one than there, it has its own kernels; a memory is as large as the layer before it.
    """
    agent = agent_config(label, setting)
    kernels = agent.kernels if find_spec(env).is_small_image else ()
    memory = agent.dense[-1] if representation == "gru" else 0
    return dataclasses.replace(agent, representation=representation, kernels=kernels, memory=memory)


def studied_agents(env: str, seeds: int) -> list[AgentConfig]:
    """Those of the study that the environment belongs to."""
    suite, _, name = env.partition("/")
    study: Any = find_study(suite)
    variants = [variant for variant in study.variants if variant.partition(".")[0] in name.split("-")]
    return [study.run_config(study.config_type(seeds=seeds), variant).agent for variant in variants]


def loop_of(env: str, agent: AgentConfig, seeds: int) -> DeviceLoop:
    config = RunConfig(env, agent, seeds=seeds, actors=ACTORS, steps=STEPS)
    loop = make_loop(config, prepare(config))
    assert isinstance(loop, DeviceLoop)
    return loop


def training_speed(env: str, agent: AgentConfig, seeds: int, seconds: float) -> float:
    loop = loop_of(env, agent, seeds)
    return speed(lambda state, updates: loop.advance(state, updates)[0], start(loop), seeds, seconds)


def speed_together(env: str, agents: list[AgentConfig], seeds: int, seconds: float) -> float:
    loops = [loop_of(env, agent, seeds) for agent in agents]
    joint = JointLoop(loops, [agent.program for agent in agents])
    states = [start(loop) for loop in loops]
    advance = lambda states, updates: [state for state, _ in joint.advance(states, updates)]  # noqa: E731
    return speed(advance, states, seeds * len(agents), seconds)


def speed(advance: Callable[[Any, int], Any], state: Any, agents: int, seconds: float) -> float:
    """Steps/s. A call makes as many updates as fit into half a second: the metrics of runs are about as frequent."""
    state = jax.block_until_ready(advance(state, 1))
    began = time.perf_counter()
    state = jax.block_until_ready(advance(state, 10))
    updates = min(MAX_UPDATES, 1 + int(10 * 0.5 / (time.perf_counter() - began)))
    return rate(lambda state: advance(state, updates), state, updates * ACTORS * STEPS * agents, seconds)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", default=[f"minatar/{game}" for game in MINATAR_GAMES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--shapes", action="store_true", help="also the cost of depth and repeat")
    parser.add_argument("--together", action="store_true", help="also a study's agents in one program")
    parser.add_argument("--wide", action="store_true", help="the wide representation of the study minatar-reward")
    parser.add_argument("--representation", default="auto", help="such as gru, which has a memory")
    arguments = parser.parse_args(words)
    alone = [env for env in arguments.envs if env.partition("/")[0] not in STUDIES]
    if arguments.together and alone:
        parser.error(f"--together needs environments that have a study, and {alone[0]} has none")
    setting = Setting("wide" if arguments.wide else "narrow", 2e-3)
    device = jax.devices()[0].device_kind
    print(f"{os.cpu_count()} cores, {device}, jax {jax.__version__}; steps/s over all agents\n")
    print(f"{'':28}{'agents':>8}{'environment':>13}" + "".join(f"{name:>13}" for name in LABELS) + "   cost")
    for env in arguments.envs:
        for seeds in arguments.seeds:
            alone = environment_speed(env, ACTORS * seeds, arguments.seconds)
            measured = [agent_of(env, label, setting, arguments.representation) for label in LABELS.values()]
            speeds = [training_speed(env, agent, seeds, arguments.seconds) for agent in measured]
            row = f"{env:28}{seeds:8}{alone:13,.0f}" + "".join(f"{speed:13,.0f}" for speed in speeds)
            print(row + "".join(f"{speeds[0] / speed:7.2f}" for speed in speeds[1:]), flush=True)
    seeds = sorted(arguments.seeds)[len(arguments.seeds) // 2]
    if arguments.together:
        print(f"\n{'':28}{'agents':>8}{'one by one':>13}{'together':>13}")
        for env in arguments.envs:
            agents = studied_agents(env, seeds)
            apart = [training_speed(env, agent, seeds, arguments.seconds) for agent in agents]
            one_by_one = len(apart) / sum(1 / speed for speed in apart)
            together = speed_together(env, agents, seeds, arguments.seconds)
            print(f"{env:28}{seeds * len(agents):8}{one_by_one:13,.0f}{together:13,.0f}", flush=True)
    if arguments.shapes:
        env = arguments.envs[0]
        print(f"\n{env}, rgvf, {seeds} agents\n{'depth':>8}{'repeat':>8}{'predictions':>13}{'steps/s':>13}")
        actions = len(find_spec(env).actions)
        for depth, repeat in ((1, 16), (4, 16), (8, 16), (16, 16), (8, 4), (8, 32)):
            agent = AgentConfig(RandomQuestions(depth=depth, repeat=repeat), stop_gradient=True, hidden=128)
            speed = training_speed(env, agent, seeds, arguments.seconds)
            print(f"{depth:8}{repeat:8}{16 + depth * repeat * actions:13,}{speed:13,.0f}", flush=True)


if __name__ == "__main__":
    main()
