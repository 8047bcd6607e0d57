"""Stable-Baselines3's plain A2C with the same 16 games and 20 steps, to compare `atari.py` with on the same machine.

Needs an environment of its own: pip install torch stable-baselines3 ale-py gymnasium opencv-python-headless
"""

import time

import ale_py  # pyright: ignore
import gymnasium
from stable_baselines3 import A2C  # pyright: ignore
from stable_baselines3.common.env_util import make_atari_env  # pyright: ignore
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack  # pyright: ignore

if __name__ == "__main__":
    gymnasium.register_envs(ale_py)
    games = make_atari_env("BreakoutNoFrameskip-v4", n_envs=16, seed=0, vec_env_cls=SubprocVecEnv)
    agent = A2C("CnnPolicy", VecFrameStack(games, 4), n_steps=20, ent_coef=0.01, vf_coef=0.25, device="cpu")
    agent.learn(3 * 320)
    began, steps = time.perf_counter(), 80 * 320
    agent.learn(steps)
    print(f"{4 * steps / (time.perf_counter() - began):,.0f} frames/s")
