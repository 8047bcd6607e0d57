"""How many cases are run, how files are damaged, and what an error must look like."""

import os

from rgvf.errors import UserError

SHARE = float(os.environ.get("RGVF_FAULTS", "1"))
"""Of all cases."""


def damage(path, rng):
    """Flip bits, cut, overwrite with garbage, remove lines, empty, or delete a file."""
    data = bytearray(path.read_bytes())
    often = ["flip", "digit", "cut"]
    kind = rng.choice([*often, *often, *often, "flips", "garbage", "lines", "empty", "other", "delete"])
    place = rng.randrange(len(data))
    if kind == "flip":
        data[place] ^= 1 << rng.randrange(8)
    elif kind == "flips":
        for _ in range(rng.randrange(2, 50)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[place:]
    elif kind == "garbage":
        data[place : place + rng.randrange(1, 200)] = rng.randbytes(rng.randrange(1, 200))
    elif kind == "digit":  # still a number, but another one
        places = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
        place = rng.choice(places)
        data[place] = ord("0") + (data[place] - ord("0") + rng.randrange(1, 10)) % 10
    elif kind == "lines":  # lines in another order, or missing
        lines = bytes(data).splitlines(keepends=True)
        chosen = rng.sample(lines, rng.randrange(len(lines) + 1))
        data = bytearray(b"".join(chosen))
    elif kind == "empty":
        data = bytearray()
    elif kind == "other":
        data = bytearray(rng.choice([b"null", b"[]", b"{}", b"3", b'"text"', b"\x00" * 100, b"[" * 50_000]))
    path.unlink()
    if kind != "delete":
        path.write_bytes(bytes(data))
    return kind


def assert_one_sentence(error, part=""):
    """An error for users: short, on one line, and no leftover of a traceback."""
    text = str(error)
    assert part in text
    assert isinstance(error, UserError | ValueError), repr(error)
    assert text, repr(error)
    assert "\n" not in " ".join(text.split())
    assert "Traceback" not in text
    assert len(text) < 1000, text
