import json
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.arrays import fill, named_arrays
from rgvf.runs.checkpoint import CheckpointError, load_checkpoint, save_checkpoint


class State(NamedTuple):
    weights: dict[str, jax.Array]
    key: jax.Array
    counts: list[jax.Array]


def state(seed):
    weights = {"w": jax.random.normal(jax.random.key(seed), (3, 4)), "flag": jnp.array([True, False])}
    return State(weights, jax.random.key(seed + 1), [jnp.int32(seed), jnp.arange(5, dtype=jnp.uint8)])


def test_a_state_comes_back_bit_for_bit(tmp_path):
    before = state(1)
    save_checkpoint(tmp_path / "c", named_arrays(before), {"updates": 7, "text": "é"})
    arrays, facts = load_checkpoint(tmp_path / "c")
    assert facts == {"updates": 7, "text": "é"}
    after = fill(state(2), arrays)
    assert jax.tree.structure(after) == jax.tree.structure(before)
    for a, b in zip(jax.tree.leaves(after), jax.tree.leaves(before), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
    for name, array in named_arrays(before).items():
        np.testing.assert_array_equal(named_arrays(after)[name], array)
    assert jax.random.normal(after.key) == jax.random.normal(before.key)
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_damage_is_noticed_wherever_it_is(tmp_path):
    path = tmp_path / "c"
    save_checkpoint(path, named_arrays(state(1)), {"updates": 7})
    good = path.read_bytes()
    damaged = [good[:n] for n in (0, 5, 100, len(good) // 2, len(good) - 1)]
    for place in range(0, len(good), 7):
        damaged.append(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match="damaged"):
            load_checkpoint(path)
    with pytest.raises(CheckpointError):
        load_checkpoint(tmp_path / "missing")


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2", "F4", "C64", "X"])
def test_numbers_of_an_unknown_kind_are_damage(tmp_path, dtype):
    """NumPy lacks some of the types that the file format has."""
    header = {
        "__metadata__": {"facts": "{}", "sha256": ""},
        "w": {"dtype": dtype, "shape": [4], "data_offsets": [0, 8]},
    }
    write_raw(tmp_path / "c", json.dumps(header).encode(), bytes(8))
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(tmp_path / "c")


def test_what_is_nested_too_deeply_is_damage(tmp_path):
    for facts in ("[" * 100_000, "[" * 100_000 + "]" * 100_000):
        write_raw(tmp_path / "c", json.dumps({"__metadata__": {"facts": facts, "sha256": ""}}).encode())
        with pytest.raises(CheckpointError, match="damaged"):
            load_checkpoint(tmp_path / "c")
    write_raw(tmp_path / "c", b"[" * 100_000)
    with pytest.raises(CheckpointError, match="damaged"):
        load_checkpoint(tmp_path / "c")


def write_raw(path, header, data=b""):
    """A safetensors file with any header."""
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)


def test_a_checkpoint_of_another_agent_is_refused():
    arrays = named_arrays(state(1))
    with pytest.raises(ValueError, match="no array"):
        fill(state(1), {name: array for name, array in arrays.items() if "'w'" not in name})
    with pytest.raises(ValueError, match=r"float32\(2, 4\), not float32\(3, 4\)"):
        fill(state(1), {**arrays, ".weights['w']": np.zeros((2, 4), np.float32)})
