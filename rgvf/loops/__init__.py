"""Training loops: experience and updates, for several seeds at once."""

from rgvf.loops.device_loop import DeviceLoop, DeviceState, Policy, uniform_policy
from rgvf.loops.host_loop import HostLoop, HostState
from rgvf.loops.joint_loop import JointLoop
from rgvf.loops.loop import Loop, MetricsOfUpdates, Progress, start
from rgvf.loops.rewards import Rewards
from rgvf.loops.scores import MAX_SCORES
from rgvf.loops.seeds import ListedSeeds, PerSeed, SeedAxis, StackedSeeds, on_host, seed_axis, stacking_is_faster
from rgvf.loops.segment import game_order, group_count

__all__ = [
    "MAX_SCORES",
    "DeviceLoop",
    "DeviceState",
    "HostLoop",
    "HostState",
    "JointLoop",
    "ListedSeeds",
    "Loop",
    "MetricsOfUpdates",
    "PerSeed",
    "Policy",
    "Progress",
    "Rewards",
    "SeedAxis",
    "StackedSeeds",
    "game_order",
    "group_count",
    "on_host",
    "seed_axis",
    "stacking_is_faster",
    "start",
    "uniform_policy",
]
