"""The kernels of an update on a GPU, and what they read and write, by compiling for a GPU that need not be there.

    .venv/bin/pip install "jax[cuda12]==$(.venv/bin/python -c 'import jax; print(jax.__version__)')"     # 5 GB
    .venv/bin/python benchmarks/kernels.py [--envs craftax/Classic-Symbolic …] [--representation gru --wide --together]

Where agents are small, launches are what takes the time; where there are many, bytes count, too. The agents are those
of `benchmarks/device.py`, and with --together those of the environment's study in one program. An update is 20 steps of
16 games an agent, and what is learned from them. A kernel reads each of its arrays once here, also if it needs only a
slice. Of choices, and of loops whose length is not known, such as that of resets, each part is counted once. The
programs are for an H200. On a real one the compiler also tries which matrix products are fastest, so counts may differ.
"""

import argparse
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from device import LABELS, agent_of, loop_of, studied_agents
from jax.experimental.topologies import get_topology_desc
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rgvf.agents import AgentConfig
from rgvf.loops import JointLoop, start
from rgvf.studies.reward_agents import Setting

H200 = """
platform_name: "CUDA"
device_description_str: "NVIDIA H200"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 9 }
gpu_device_info {
  cuda_compute_capability { major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES }
  core_count: 132 fpus_per_core: 128 clock_rate_ghz: 1.98
  threads_per_warp: 32 threads_per_block_limit: 1024 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 232448 shared_memory_per_core: 233472
  l2_cache_size: 52428800 device_memory_size: 150754820096 memory_bandwidth: 4800000000000
}
"""
FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
"""Instructions that launch nothing."""
_COMPUTATION = re.compile(r"^(ENTRY )?%([\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"%([\w.-]+) = (.*?) ([a-z][a-z0-9-]*)\(([^)]*)")
_ARRAY = re.compile(r"\b(pred|[a-z]+(\d+))\[([\d,]*)\]")
_CALLED = re.compile(r"(?:to_apply|body|true_computation|false_computation)=%([\w.-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TURNS = re.compile(r'known_trip_count":\{"n":"(\d+)"')


class Work(NamedTuple):
    """What a program does."""

    kernels: int
    bytes: int
    """Read and written by all kernels."""


def count_work(program: str) -> Work:
    """The kernels of a compiled program, and what they read and write, from its text."""
    computations: dict[str, list[str]] = {}
    lines: list[str] = []
    entry = ""
    for line in program.splitlines():
        if found := _COMPUTATION.match(line):
            entry = found[2] if found[1] else entry
            lines = computations[found[2]] = []
        elif " = " in line:
            lines.append(line)

    def count(name: str) -> Work:
        sizes: dict[str, int] = {}
        works = [cost(line, sizes) for line in computations[name]]
        return Work(*map(sum, zip(*works, strict=True)))

    def cost(line: str, sizes: dict[str, int]) -> Work:
        found = _INSTRUCTION.search(line)
        if not found or found[3] in FREE:
            sizes |= {found[1]: size_of(found[2])} if found else {}
            return Work(0, 0)
        name, result, kind, arguments = found.groups()
        sizes[name] = size_of(result)
        if kind not in {"while", "call", "conditional"}:
            read = [sizes.get(each, 0) for each in re.findall(r"%([\w.-]+)", arguments)]
            if "dynamic_update_slice" in name and sizes[name] in read:  # in place: the slice is what is written
                read.remove(sizes[name])
                return Work(1, 2 * sum(read))
            return Work(1, sizes[name] + sum(read))
        branches = re.findall(r"%([\w.-]+)", "".join(_BRANCHES.findall(line)))
        turns = int(known[1]) if (known := _TURNS.search(line)) else 1
        inside = [count(each) for each in (*_CALLED.findall(line), *branches)]
        return Work(*(turns * sum(each) for each in zip(*inside, strict=True)))

    return count(entry)


def size_of(shape: str) -> int:
    """Bytes of an array, or of all in a tuple, from its type as a program's text has it."""
    arrays = _ARRAY.findall(shape)
    return sum(int(bits or 8) // 8 * math.prod(map(int, filter(None, dims.split(",")))) for _, bits, dims in arrays)


def compile_for_gpu(function: Any, states: Any, agents: int) -> Any:
    """A function of states with a seed axis and a number of updates. The states may be of fewer agents."""
    (device, *_) = get_topology_desc(platform="cuda", target_config=H200, topology="1x1x1").devices
    place = NamedSharding(Mesh([device], "x"), PartitionSpec())

    def shape(leaf: jax.Array) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((agents, *leaf.shape[1:]), leaf.dtype, sharding=place)

    updates = jax.ShapeDtypeStruct((), jnp.int32, sharding=place)
    compiled = jax.jit(function, donate_argnums=0, in_shardings=place, out_shardings=place)
    return compiled.lower(jax.tree.map(shape, states), updates).compile()


def kernels_of(env: str, agents: Sequence[AgentConfig], seeds: int) -> str:
    """Kernels, what they read and write, and the memory for what lies between, of some agents in one program."""
    loops = [loop_of(env, agent, 2) for agent in agents]
    states = tuple(start(loop) for loop in loops)
    function = JointLoop(loops, [agent.program for agent in agents])._updates
    program = compile_for_gpu(function, states, seeds)
    megabytes = program.memory_analysis().temp_size_in_bytes / 1e6
    work = count_work(program.as_text())
    return f"{work.kernels:,} kernels, {work.bytes / 1e9:.2f} GB ({megabytes:,.0f} MB)"


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", default=["minatar/Breakout"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--together", action="store_true", help="also a study's agents in one program")
    parser.add_argument("--wide", action="store_true", help="the wide representation of the study minatar-reward")
    parser.add_argument("--representation", default="auto", help="such as gru, which has a memory")
    arguments = parser.parse_args(words)
    jax.config.update("jax_platforms", "cpu")  # only the compiler is for a GPU
    jax.default_backend = lambda: "gpu"  # what rgvf asks before it chooses how to compute
    setting = Setting("wide" if arguments.wide else "narrow", 2e-3)
    seeds = arguments.seeds
    try:
        get_topology_desc(platform="cuda", target_config=H200, topology="1x1x1")
    except NotImplementedError:
        parser.error("the compiler for GPUs is not installed; the top of this file says how")
    what = "kernels, what they read and write (and the memory for what lies between)"
    print(f"{seeds} agents, jax {jax.__version__}; an update: {what}\n")
    for env in arguments.envs:
        for name, label in LABELS.items():
            agent = agent_of(env, label, setting, arguments.representation)
            print(f"{env:28}{name:14}{kernels_of(env, [agent], seeds):>36}", flush=True)
        if arguments.together:
            agents = studied_agents(env, seeds)
            print(f"{env:28}{f'{len(agents)} together':14}{kernels_of(env, agents, seeds):>36}", flush=True)


if __name__ == "__main__":
    main()
