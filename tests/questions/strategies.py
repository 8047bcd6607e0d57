"""Random question networks for property tests: any edges, any weights, loops that do not amplify."""

import numpy as np
from hypothesis import strategies as st

from rgvf.questions import QuestionNetwork


@st.composite
def networks(draw: st.DrawFn, most_nodes: int = 8) -> QuestionNetwork:
    n_p = draw(st.integers(1, most_nodes))
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
    return QuestionNetwork(
        features,
        {name: None if c < 0 else int(c) for name, c in zip(names, condition, strict=True)},
        [(names[i], (names + features)[j], float(weights[i, j])) for i, j in zip(*np.nonzero(weights), strict=True)],
        n_a,
    )
