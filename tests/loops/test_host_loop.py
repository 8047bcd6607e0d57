"""The host loop against a plain one, written with single games and loops over steps and environments."""
# pyright: reportArgumentType=false, reportCallIssue=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import REPRESENTATION, AgentConfig, make_learner
from rgvf.agents.build import MAIN
from rgvf.environments.sources import make_game, parse_source, spec_of
from rgvf.training.config import RunConfig
from rgvf.training.host import HostLoop, environment_order
from rgvf.training.run import make_workers
from rgvf.training.worlds import world_of
from rgvf.trajectory import Trajectory

SMALL = AgentConfig(depth=2, repeat=2, hidden=8)


def config(env, **changes):
    return RunConfig(**{**dict(env=env, agent=SMALL, actors=4, steps=6, processes=2), **changes})


class Watching:
    """A learner that learns nothing and keeps what it was shown."""

    def __init__(self, learner):
        self.learner, self.init, self.seen = learner, learner.init, []

    def update(self, agent, trajectory, key):
        jax.debug.callback(lambda *leaves: self.seen.append(Trajectory(*map(np.asarray, leaves))), *trajectory)
        return agent, {"loss": jnp.zeros(())}


def plain_segments(run, seed, segments):
    """What one agent that never learns goes through, game by game."""
    source = parse_source(run.env)
    spec = spec_of(source)
    learner = make_learner(run.agent, world_of(spec), seed)
    key = jax.random.key(seed)
    agent, key = learner.init(jax.random.fold_in(key, 0)), jax.random.fold_in(key, 1)
    seeds = [int(s) & 0x7FFFFFFF for s in np.random.SeedSequence([seed, 1]).generate_state(run.actors)]
    games = [make_game(source, s) for s in seeds]
    moments = [game.reset() for game in games]
    stacks = [np.zeros((*spec.observation_shape, spec.stack), np.uint8) for _ in games]
    for _ in range(segments):
        keys = jax.random.split(key, run.steps + 2)
        key = keys[-1]
        shown, actions, rewards, terminals, firsts = [], [], [], [], []
        for t in range(run.steps + 1):
            if len(spec.observation_shape) == 2:
                for i, moment in enumerate(moments):
                    view = np.concatenate([stacks[i][..., 1:], moment.observation[..., None]], -1)
                    if moment.first:
                        view[..., :-1] = 0
                    shown.append(view)
                    if t < run.steps:  # the next segment sees the last observation again, as its first
                        stacks[i] = view
            else:
                shown += [moment.observation for moment in moments]
            firsts.append([moment.first for moment in moments])
            if t == run.steps:
                break
            now = np.stack(shown[-run.actors :])
            logits, _ = agent.modules[MAIN](agent.modules[REPRESENTATION].step(jnp.asarray(now)))
            noise = jax.random.gumbel(keys[t], (run.actors, len(spec.actions)))
            actions.append(np.asarray(jnp.argmax(logits + noise, -1)))
            moments = [game.step(int(a)) for game, a in zip(games, actions[-1], strict=True)]
            rewards.append([np.clip(moment.reward, -1, 1) for moment in moments])
            terminals.append([moment.terminal for moment in moments])
        observation = np.stack(shown).reshape(run.steps + 1, run.actors, *shown[0].shape)
        yield Trajectory(observation, *(np.array(x) for x in (actions, rewards, terminals, firsts)))


@pytest.mark.parametrize(
    ("env", "seeds", "segments"), [("gym/CartPole-v1", 2, 8), ("atari/Breakout", 1, 9), ("gym/CartPole-v1", 1, 8)]
)
def test_experience_is_that_of_single_games_stepped_one_by_one(env, seeds, segments):
    run = config(env, seeds=seeds, seed=3)
    with make_workers(run) as workers:
        world = world_of(workers.spec)
        learners = [Watching(make_learner(run.agent, world, seed)) for seed in range(3, 3 + seeds)]
        loop = HostLoop(workers, learners, run.actors, run.steps, run.clip_rewards)  # pyright: ignore[reportArgumentType]
        state = loop.start(range(3, 3 + seeds))
        for _ in range(segments):
            state, _ = loop.advance(state)
        jax.effects_barrier()
    seen = learners[0].seen  # the first learner's update serves all seeds, in their order
    assert len(seen) == seeds * segments
    for i in range(seeds):
        for expected, got in zip(plain_segments(run, 3 + i, segments), seen[i::seeds], strict=True):
            for name in Trajectory._fields:
                np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), err_msg=name)
    assert any(got.first[1:].any() for got in seen), "no episode ended, so nothing was shown about ends"


def test_one_seed_of_several_learns_what_it_learns_alone():
    together = config("gym/CartPole-v1", seeds=3)
    alone = config("gym/CartPole-v1", seeds=1, seed=2)
    agents = {}
    for run in (together, alone):
        with make_workers(run) as workers:
            world = world_of(workers.spec)
            seeds = range(run.seed, run.seed + run.seeds)
            learners = [make_learner(run.agent, world, seed) for seed in seeds]
            loop = HostLoop(workers, learners, run.actors, run.steps, run.clip_rewards)
            state = loop.start(seeds)
            state, _ = loop.advance(state)
            agents[run.seeds] = state.agent[-1] if isinstance(state.agent, list) else None
    for a, b in zip(jax.tree.leaves(agents[3]), jax.tree.leaves(agents[1]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_environments_are_ordered_by_group_then_seed():
    values = np.array([[0, 1, 2, 3], [10, 11, 12, 13]])
    np.testing.assert_array_equal(environment_order(values, 2), [0, 1, 10, 11, 2, 3, 12, 13])
    np.testing.assert_array_equal(environment_order(values, 1), values.ravel())
