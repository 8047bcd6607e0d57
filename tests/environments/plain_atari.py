"""The rules of an Atari game once more, slowly and plainly, over Gymnasium's own preprocessing."""

import cv2
import numpy as np
from ale_py import AtariEnv
from gymnasium.wrappers import AtariPreprocessing

from rgvf.environments.game_names import rom_name


class PlainAtari:
    """Gives (observation, reward, terminal, truncated, first, game over, return, length, lives) for each step.

    `noops` yields the number of no-ops of each reset. Games are played on two consoles in turn.
    """

    def __init__(self, game, noops, frame_cap=108_000):
        self.consoles = []
        for _ in range(2):
            self.env = AtariEnv(
                rom_name(game), obs_type="grayscale", frameskip=1, repeat_action_probability=0.0,
                max_num_frames_per_episode=frame_cap,
            )  # fmt: skip
            screen = AtariPreprocessing(self.env, noop_max=0, frame_skip=4, screen_size=84, grayscale_obs=True)
            self.consoles.append((self.env, screen))
        self.has_fire = "FIRE" in self.env.get_action_meanings()
        self.noops = noops
        self.next = "new game"

    def step(self, action):
        if self.next == "new game":
            return self.new_game()
        if self.next == "new life":
            return self.new_life()
        return self.play(action)

    def new_game(self):
        self.consoles.reverse()
        self.env, self.screen = self.consoles[0]
        self.screen.reset()
        for _ in range(next(self.noops)):
            _, reward, terminated, truncated, _ = self.env.step(0)
            assert (terminated, truncated) == (False, False)
            assert reward == 0
        # The screen as it is after the no-ops, as `AtariPreprocessing.reset` takes it.
        self.screen.ale.getScreenGrayscale(self.screen.obs_buffer[0])
        self.screen.obs_buffer[1].fill(0)
        observation = self.screen._get_obs()
        self.total, self.length = 0.0, 0
        if self.has_fire:
            for action in (1, 2):
                observation, reward, terminated, truncated, _ = self.screen.step(action)
                assert (terminated, truncated) == (False, False)
                self.total += float(reward)
        return self.first(observation)

    def new_life(self):
        observation = None
        for action in (0, 1, 2) if self.has_fire else (0,):
            observation, reward, terminated, truncated, _ = self.screen.step(action)
            self.total += float(reward)
            if terminated or truncated:
                total, length = self.total, self.length
                observation, *rest = self.new_game()
                return observation, *rest[:4], True, total, length, rest[-1]
        return self.first(observation)

    def first(self, observation):
        self.next = "play"
        self.lives = self.env.ale.lives()
        return observation, 0.0, False, False, True, False, self.total, self.length, self.lives

    def last_screen(self, frames):
        """What is on the screen when a game has ended; with the frame before it, where that was the third of four."""
        screen = self.env.ale.getScreenGrayscale()
        if frames == 4:
            screen = np.maximum(screen, self.screen.obs_buffer[1])
        return cv2.resize(screen, (84, 84), interpolation=cv2.INTER_AREA)

    def play(self, action):
        before = self.env.ale.getEpisodeFrameNumber()
        observation, reward, terminated, truncated, info = self.screen.step(action)
        if terminated or truncated:  # the wrapper would show an older screen
            observation = self.last_screen(self.env.ale.getEpisodeFrameNumber() - before)
        self.total += float(reward)
        self.length += 1
        lost_life = info["lives"] < self.lives and info["lives"] > 0 and not (terminated or truncated)
        self.lives = info["lives"]
        if terminated or truncated:
            self.next = "new game"
        elif lost_life:
            self.next = "new life"
        over = terminated or truncated
        truncated = truncated and not terminated
        return observation, reward, terminated or lost_life, truncated, False, over, self.total, self.length, self.lives
