"""The parts of benchmarks that do more than time something."""

import importlib
import sys
from pathlib import Path

import pytest

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
  ROOT %t = (s32[], f32[4]{0}) tuple(%c, %a)
}

%one (p: f32[4]) -> f32[4] {
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


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    yield importlib.import_module("kernels")
    for name in ("kernels", "device"):
        sys.modules.pop(name)


def test_kernels_are_counted_in_loops_calls_and_choices(kernels):
    """Two in each of five turns; two where the turns are not known; one called; one for each choice; one at last."""
    assert kernels.count_kernels(PROGRAM) == 5 * 2 + 2 + 1 + 2 + 1
