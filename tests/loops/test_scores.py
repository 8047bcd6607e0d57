import jax
import jax.numpy as jnp
import numpy as np

from rgvf.loops.scores import MAX_SCORES, Scores


def test_scores_are_kept_in_order_however_many_games_end_at_once():
    rng = np.random.default_rng(0)
    scores = Scores.zero(7)
    running, steps, expected, before = np.zeros(7), np.zeros(7, int), [], 0
    for often in (0.05, 0.9, 0.2, 0.0, 1.0):
        reward = rng.integers(-3, 9, size=(40, 7)).astype(np.float32)
        over = rng.random((40, 7)) < often
        valid = rng.random((40, 7)) < 0.8
        scores = jax.jit(Scores.add)(scores, jnp.asarray(reward), jnp.asarray(valid), jnp.asarray(over))
        new = []
        for t in range(40):
            running += reward[t]
            steps += valid[t]
            new += [(float(running[b]), int(steps[b])) for b in range(7) if over[t, b]]
            running[over[t]] = 0
            steps[over[t]] = 0
        expected += new
        assert int(scores.games) - before == len(new)
        assert scores.newest(len(new)) == new[-MAX_SCORES:]
        before = int(scores.games)
    assert scores.newest(MAX_SCORES) == expected[-MAX_SCORES:]
