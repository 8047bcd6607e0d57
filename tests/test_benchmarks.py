"""The parts of benchmarks that do more than time something."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from jax.profiler import ProfileData

PROGRAM = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "f.py"

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %add.1 = f32[4]{0} add(%p, %p)
}

%body (c: (s32[], f32[4])) -> (s32[], f32[4]) {
  %c = (s32[], f32[4]{0}) parameter(0)
  %x = f32[4]{0} get-tuple-element(%c), index=1
  %a = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused
  %b = (f32[4]{0}, s8[128]{0}) custom-call(%a), custom_call_target="__cublas$gemm"
  %n = f32[999]{0} get-tuple-element(%c), index=2
  %loop_dynamic_update_slice_fusion.1 = f32[999]{0} fusion(%n, %a), kind=kLoop, calls=%fused
  ROOT %t = (s32[], f32[4]{0}) tuple(%c, %a)
}

%one (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %p.1 = f32[4]{0} copy(%p)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0)
  %w = (s32[], f32[4]{0}) while(%x.1), condition=%one, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %v = (s32[], f32[4]{0}) while(%x.1), condition=%one, body=%body
  %d = f32[4]{0} call(%x.1), to_apply=%one
  %e = f32[4]{0} conditional(%x.1, %d, %d), branch_computations={%one, %one}
  %g = f32[4]{0} bitcast(%d)
  ROOT %k = f32[4]{0} fusion(%e), kind=kLoop, calls=%fused
}
"""


TRACE = """
planes {
  name: "/device:GPU:0"
  lines { name: "Stream #7"
    events { metadata_id: 1 offset_ps: 0 duration_ps: 30000000 stats { metadata_id: 1 str_value: "command_buffer.2" } }
    events { metadata_id: 1 offset_ps: 9 duration_ps: 10000000 stats { metadata_id: 1 str_value: "command_buffer.2" } }
    events { metadata_id: 2 offset_ps: 20 duration_ps: 5000000 stats { metadata_id: 1 str_value: "e" } }
  }
  lines { name: "XLA Ops" events { metadata_id: 2 offset_ps: 0 duration_ps: 700000000 } }
  event_metadata { key: 1 value { id: 1 name: "loop_add_fusion_3" } }
  event_metadata { key: 2 value { id: 2 name: "some_kernel" } }
  stat_metadata { key: 1 value { id: 1 name: "hlo_op" } }
}
planes {
  name: "/host:CPU"
  lines { name: "Stream #1" events { metadata_id: 1 offset_ps: 0 duration_ps: 900000000 } }
  event_metadata { key: 1 value { id: 1 name: "python" } }
}
"""


@pytest.fixture
def benchmark(monkeypatch):
    """A module of benchmarks/ by its name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in {"kernels", "kernel_times", "device", "doom", "host_speed", "random_play"} & (
        set(sys.modules) - before
    ):
        sys.modules.pop(name)


def test_kernels_are_counted_in_loops_calls_and_choices(benchmark):
    """Three in each of five turns; three where turns are not known; one called; one for each choice; one at last.

    A kernel in the loop reads and writes four numbers; a product has 128 bytes to work in besides; the third one writes
    four numbers into a long array.
    """
    work = benchmark("kernels").count_work(PROGRAM)
    assert work.kernels == 5 * 3 + 3 + 1 + 2 + 1
    turn = (16 + 16) + (16 + 16 + 128) + (16 + 16)
    assert work.bytes == 5 * turn + turn + 32 + 2 * 32 + 32


@pytest.mark.filterwarnings("ignore:builtin type event_stats")  # of jax 0.11, in Python 3.12
def test_times_of_kernels_are_added_up_by_instruction(benchmark, tmp_path):
    """Of the GPU's streams only; where a graph launched a kernel, its own name is that of the instruction."""
    kernel_times = benchmark("kernel_times")
    (tmp_path / "plugins").mkdir()
    trace = ProfileData.text_proto_to_serialized_xspace(TRACE)
    (tmp_path / "plugins" / "host.xplane.pb").write_bytes(trace)
    each = 1 / kernel_times.UPDATES
    found = kernel_times.kernels_of_trace(tmp_path)
    assert found == [("loop_add_fusion.3", 2 * each, pytest.approx(40 * each)), ("e", each, pytest.approx(5 * each))]


def test_an_instruction_is_found_by_its_name(benchmark):
    line = '  %e = (f32[4]{0}, s8[2,3]{1,0}) fusion(%d), calls=%f, metadata={op_name="jit(f)/while/body/vmap()/add"}\n'
    found = benchmark("kernel_times").instructions(PROGRAM + line)
    assert found["e"] == ("(f32[4], s8[2,3])", "jit(f)/vmap/add")
    assert found["k"] == ("f32[4]", "")


@pytest.mark.parametrize(("env", "chance"), [("cue/2", 0.0), ("gym/rgvf/Catch-v0", -0.5)])
def test_random_play_is_worth_what_chance_gives(benchmark, env, chance):
    """A cue is guessed half of the time: 1 or -1. In Catch the first miss ends a game."""
    returns = benchmark("random_play").random_returns(env, games=100, repeat=1)
    assert len(returns) == 100
    assert {-1.0, 1.0} <= set(returns) <= {-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert abs(returns.mean() - chance) < 0.4


def test_processes_that_wait_for_the_slowest_game_of_a_group(benchmark):
    """Worked by hand: two processes with a game in each of two groups, and 7 seconds of work for each.

    In the first round the groups are done after 4 and 5. Then the first process, which was free at 2, begins at 4 and
    is done after 8 and 9; the second one is done after 6 and 7.
    """
    doom = benchmark("doom")
    processes = [np.array([[1.0, 1.0], [4.0, 1.0]]), np.array([[4.0, 1.0], [1.0, 1.0]])]
    assert doom.lockstep(processes) == pytest.approx(8 / 9)
    assert doom.lockstep([np.ones((5, 2))] * 3) == pytest.approx(3 * doom.rate(np.ones((5, 2))))  # nobody waits
