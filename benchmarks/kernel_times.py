"""Where the time of an update goes on a GPU: its kernels, those that take longest first.

    .venv/bin/python benchmarks/kernel_times.py [--env minatar/Breakout] [--seeds 100] [--agent "two tasks"] [--most 40]

The agents are those of `benchmarks/device.py`, and with --together those of the environment's study in one program. A
row has microseconds an update, launches an update, the kernel, the shape of its result, and the part of the program.
Matrix products of the vendor's library have the library's names.
"""

import argparse
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from device import ACTORS, LABELS, STEPS, agent_of, loop_of, studied_agents
from jax.profiler import ProfileData

from rgvf.loops import JointLoop, start
from rgvf.studies.reward_agents import Setting

UPDATES = 5
"""Updates that are traced."""
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%([\w.-]+) = (\(.*?\)|\S+) [\w-]+\(")
_PART = re.compile(r'op_name="([^"]*)"')


class Kernel(NamedTuple):
    """A kernel's part in an update."""

    name: str
    launches: float
    microseconds: float


def kernels_of_trace(folder: Path) -> list[Kernel]:
    """The kernels of a trace of `UPDATES` updates, the longest first."""
    (trace,) = folder.rglob("*.xplane.pb")
    total: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0])
    for event in _events(ProfileData.from_file(str(trace))):
        launches_and_time = total[_name(event)]
        launches_and_time[0] += 1
        launches_and_time[1] += event.duration_ns / 1e3
    found = [Kernel(name, n / UPDATES, microseconds / UPDATES) for name, (n, microseconds) in total.items()]
    return sorted(found, key=lambda kernel: -kernel.microseconds)


def _events(profile: Any) -> Iterable[Any]:
    for plane in profile.planes:
        if "GPU" in plane.name:
            for line in plane.lines:
                if "Stream" in line.name:
                    yield from line.events


def _name(event: Any) -> str:
    """The instruction that launched it; where many are launched as one graph, the kernel's own name."""
    operation = str(dict(event.stats).get("hlo_op", "command_buffer"))
    return re.sub(r"_(\d+)$", r".\1", event.name) if operation.startswith("command_buffer") else operation


def instructions(program: str) -> dict[str, tuple[str, str]]:
    """The shape of each instruction's result, and the part of the program it is from, by its name."""
    found: dict[str, tuple[str, str]] = {}
    for line in program.splitlines():
        if match := _INSTRUCTION.match(line):
            part = _PART.search(line)
            layouts = re.sub(r"\{[^}]*\}", "", match[2])
            found[match[1]] = layouts, re.sub(r"while/body/|closed_call/|\(\)", "", part[1] if part else "")
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="minatar/Breakout")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--agent", choices=list(LABELS), default="rgvf")
    parser.add_argument("--together", action="store_true", help="the agents of the environment's study instead")
    parser.add_argument("--wide", action="store_true", help="the wide representation of the study minatar-reward")
    parser.add_argument("--representation", default="auto", help="such as gru, which has a memory")
    parser.add_argument("--most", type=int, default=40, help="rows")
    arguments = parser.parse_args(words)
    if jax.default_backend() == "cpu":
        parser.error("this needs a GPU; benchmarks/kernels.py counts kernels without one")
    env, seeds, setting = arguments.env, arguments.seeds, Setting("wide" if arguments.wide else "narrow", 2e-3)
    one = agent_of(env, LABELS[arguments.agent], setting, arguments.representation)
    agents = studied_agents(env, seeds) if arguments.together else [one]
    loops = [loop_of(env, agent, seeds) for agent in agents]
    states = tuple(start(loop) for loop in loops)
    joint = JointLoop(loops, [agent.program for agent in agents])
    program = jax.jit(joint._updates, donate_argnums=0).lower(states, jnp.int32(1)).compile()
    states, _ = jax.block_until_ready(program(states, jnp.int32(20)))
    began = time.perf_counter()
    states, _ = jax.block_until_ready(program(states, jnp.int32(100)))
    seconds = (time.perf_counter() - began) / 100
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(program(states, jnp.int32(UPDATES)))
        kernels = kernels_of_trace(Path(folder))
    steps = ACTORS * STEPS * seeds * len(agents)
    launches, busy = (sum(column) for column in list(zip(*kernels, strict=True))[1:])
    print(f"{env}, {seeds * len(agents)} agents, {jax.devices()[0].device_kind}, jax {jax.__version__}")
    print(f"an update: {1e3 * seconds:.2f} ms ({steps / seconds:,.0f} steps/s), {busy / 1e3:.2f} ms in kernels")
    print(f"kernels: {launches:,.0f} an update\n")
    places = instructions(program.as_text() or "")
    for name, n, microseconds in kernels[: arguments.most]:
        shape, part = places.get(name, ("", ""))
        print(f"{microseconds:9.1f} µs {n:7.1f} × {name[:36]:36} {shape[:44]:44} {part[-60:]}")


if __name__ == "__main__":
    main()
