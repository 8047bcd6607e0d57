import numpy as np

from rgvf.evaluation.frame_stack import FrameStack
from tests.helpers import ATARI, SMALL_IMAGE


def test_the_newest_frames_of_an_episode_are_stacked_and_those_before_it_are_zero():
    rng = np.random.default_rng(0)
    stack, episodes = FrameStack(ATARI, 3), [[], [], []]
    for t in range(40):
        frames = rng.integers(1, 256, size=(3, 84, 84), dtype=np.uint8)
        first = (rng.random(3) < 0.2) | (t == 0)
        seen = stack.push(frames, first)
        for i in range(3):
            episodes[i] = [frames[i]] if first[i] else [*episodes[i], frames[i]]
            missing = [np.zeros((84, 84), np.uint8)] * 4
            expected = np.stack([*missing, *episodes[i]][-4:], axis=-1)
            np.testing.assert_array_equal(seen[i], expected, strict=True)


def test_without_a_stack_the_agent_sees_the_frame():
    frame = np.arange(2 * 10 * 10 * 2, dtype=np.uint8).reshape(2, 10, 10, 2)
    seen = FrameStack(SMALL_IMAGE, 2).push(frame, np.array([True, False]))
    np.testing.assert_array_equal(seen, frame, strict=True)
    assert not np.shares_memory(seen, frame)  # workers overwrite theirs
