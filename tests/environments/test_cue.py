import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments import Cue, find_environment


def play(steps, seed, choice):
    """All observations and rewards of an episode in which the agent does the other thing in the corridor."""
    environment, key = Cue(steps), jax.random.key(seed)
    state, observation = environment.reset(key)
    observations, rewards, ended = [np.asarray(observation)], [], False
    while not ended:
        is_junction = observations[-1][2] == 1
        state, step = environment.step(state, jnp.int32(choice if is_junction else 1 - choice), key)
        observations.append(np.asarray(step.observation))
        rewards.append(float(step.reward))
        ended = bool(step.terminal)
        assert not step.truncated
    return np.stack(observations), rewards


@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("choice", [0, 1])
def test_the_choice_at_the_junction_is_rewarded_by_the_cue(steps, choice):
    cues = set()
    for seed in range(8):
        observations, rewards = play(steps, seed, choice)
        assert len(rewards) == steps + 2
        cue = int(observations[0, 1])
        np.testing.assert_array_equal(observations[0], [1 - cue, cue, 0])
        np.testing.assert_array_equal(observations[1 : steps + 1], np.zeros((steps, 3)))
        np.testing.assert_array_equal(observations[steps + 1], [0, 0, 1])
        assert rewards == [0.0] * (steps + 1) + [1.0 if choice == cue else -1.0]
        cues.add(cue)
    assert cues == {0, 1}


def test_it_is_found_by_its_name():
    found = find_environment("cue/12")
    assert isinstance(found, Cue)
    assert found.steps == 12


@pytest.mark.parametrize("steps", [0, 4])
def test_it_says_for_how_many_steps_the_cue_is_needed(steps):
    observations, rewards = play(steps, 0, 0)
    seen = [observations[:-1, :2].any(1), observations[:-1, 2] == 1]  # the cue, the junction
    cue, junction = (int(each.nonzero()[0][0]) for each in seen)
    assert Cue(steps).memory_steps == junction - cue + 1 == len(rewards)
