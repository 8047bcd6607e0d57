"""Random question networks for property tests: any edges, any weights, loops that do not amplify."""

from typing import Any

import numpy as np
from hypothesis import strategies as st


@st.composite
def network_arguments(draw: st.DrawFn, max_nodes: int = 8) -> dict[str, Any]:
    """Arguments of `QuestionNetwork`. Tests make the network: checked calls use `random`, and strategies must not."""
    n_p = draw(st.integers(1, max_nodes))
    n_f = draw(st.integers(1, 4))
    n_a = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32 - 1))
    density = draw(st.floats(0.05, 1.0))
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_p, n_p + n_f)) * (rng.random((n_p, n_p + n_f)) < density)
    inner = np.abs(weights[:, :n_p])
    radius = np.abs(np.linalg.eigvals(inner)).max()
    if radius > 0.95:
        weights[:, :n_p] *= 0.95 / radius
    weights[np.arange(n_p), n_p + rng.integers(n_f, size=n_p)] = 1.0  # every node asks about something
    features = [f"f{k}" for k in range(n_f)]
    names = [f"p{i}" for i in range(n_p)]
    condition = rng.integers(-1, n_a, size=n_p)
    edges = [(names[i], (names + features)[j], float(weights[i, j])) for i, j in zip(*np.nonzero(weights), strict=True)]
    predictions = {name: None if c < 0 else int(c) for name, c in zip(names, condition, strict=True)}
    return dict(features=features, predictions=predictions, edges=edges, actions=n_a)
