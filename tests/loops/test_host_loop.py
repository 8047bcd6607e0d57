"""The host loop against a plain one, written with single games and loops over steps and environments."""
# pyright: reportArgumentType=false, reportCallIssue=false

from dataclasses import dataclass, field, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import MAIN, REPRESENTATION, AgentConfig, Learner
from rgvf.environments import find_spec, make_game
from rgvf.loops import HostLoop, ListedSeeds, StackedSeeds, game_order, start
from rgvf.runs import RunConfig
from rgvf.runs.run import make_workers
from rgvf.tasks import RandomQuestions
from rgvf.trajectory import Past, Percept, Trajectory
from tests.helpers import learner_of

pytestmark = pytest.mark.medium

SMALL = AgentConfig(RandomQuestions(depth=2, repeat=2), hidden=8)


def config(env, **changes):
    return RunConfig(**{**dict(env=env, agent=SMALL, actors=4, steps=6, processes=2), **changes})


@dataclass(frozen=True)
class Watching(Learner):
    """A learner that learns nothing and keeps the experience that it is given."""

    seen: list[Trajectory] = field(default_factory=list)

    def update(self, agent, trajectory, key):
        jax.debug.callback(lambda seen: self.seen.append(jax.tree.map(np.asarray, seen)), trajectory)
        return agent, {"loss": jnp.zeros(())}


def plain_segments(run, seed, segments):
    """The experience of one agent that never learns, game by game."""
    spec = find_spec(run.env)
    learner = learner_of(run.agent, spec, seed)
    key = jax.random.key(seed)
    agent, key = learner.init(jax.random.fold_in(key, 0)), jax.random.fold_in(key, 1)
    seeds = [int(s) & 0x7FFFFFFF for s in np.random.SeedSequence([seed, 1]).generate_state(run.actors)]
    games = [make_game(run.env, s) for s in seeds]
    current = [game.reset() for game in games]
    stacks = [np.zeros(spec.observation_shape, np.uint8) for _ in games]
    representation = agent.modules[REPRESENTATION]
    memory, action, reward = representation.initial_memory(run.actors), np.full(run.actors, -1), np.zeros(run.actors)
    for _ in range(segments):
        keys = jax.random.split(key, run.steps + 2)
        key = keys[-1]
        shown, actions, rewards, terminals, firsts = [], [], [], [], []
        past = Past(memory, action, reward) if run.agent.representation == "gru" else Past()
        for t in range(run.steps + 1):
            if spec.is_stacked:
                for i, step in enumerate(current):
                    view = np.concatenate([stacks[i][..., 1:], step.observation[..., None]], -1)
                    if step.first:
                        view[..., :-1] = 0
                    shown.append(view)
                    if t < run.steps:  # the next segment sees the last observation again, as its first
                        stacks[i] = view
            else:
                shown += [step.observation for step in current]
            firsts.append([step.first for step in current])
            if t == run.steps:
                break
            now = np.stack(shown[-run.actors :])
            first = np.array(firsts[-1])
            before = np.where(first, -1, action), np.where(first, 0.0, reward).astype(np.float32)
            memory, states = representation.step(memory, Percept(*map(jnp.asarray, (now, first, *before))))
            logits, _ = agent.modules[MAIN](states)
            noise = jax.random.gumbel(keys[t], (run.actors, len(spec.actions)))
            actions.append(np.asarray(jnp.argmax(logits + noise, -1)))
            action = actions[-1]
            current = [game.step(int(a)) for game, a in zip(games, action, strict=True)]
            reward = np.array([np.clip(step.reward, -1, 1) for step in current])
            rewards.append(reward)
            terminals.append([step.terminal for step in current])
        observation = np.stack(shown).reshape(run.steps + 1, run.actors, *shown[0].shape)
        yield Trajectory(observation, *(np.array(x) for x in (actions, rewards, terminals, firsts)), past)


@pytest.mark.parametrize(
    ("env", "seeds", "segments", "representation"),
    [
        ("gym/CartPole-v1", 2, 8, "auto"),
        ("gym/CartPole-v1", 2, 8, "gru"),
        ("atari/Breakout", 1, 9, "auto"),
        ("gym/CartPole-v1", 1, 8, "auto"),
    ],
)
def test_experience_is_that_of_single_games_stepped_one_by_one(env, seeds, segments, representation):
    run = config(env, agent=replace(SMALL, representation=representation), seeds=seeds, seed=3)
    with make_workers(run) as workers:
        learners = [learner_of(run.agent, workers.spec, seed) for seed in run.all_seeds]
        watching = [Watching(learner.representation, learner.tasks) for learner in learners]
        axis = ListedSeeds(run.all_seeds)
        loop = HostLoop(workers, watching, axis, run.actors, run.steps, run.rewards)
        state = start(loop)
        for _ in range(segments):
            state, _ = loop.advance(state)
        jax.effects_barrier()
    seen = watching[0].seen  # the first learner's update serves all seeds, in their order
    assert len(seen) == seeds * segments
    for i in range(seeds):
        for expected, got in zip(plain_segments(run, 3 + i, segments), seen[i::seeds], strict=True):
            for name in Trajectory._fields[:-1]:
                np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), err_msg=name)
            for a, b in zip(jax.tree.leaves(got.past), jax.tree.leaves(expected.past), strict=True):
                np.testing.assert_allclose(a, b, atol=1e-6)
    assert any(got.first[1:].any() for got in seen), "no episode ended, so nothing was shown about ends"


@pytest.mark.parametrize("axis", [ListedSeeds, pytest.param(StackedSeeds, marks=pytest.mark.slow)])
def test_one_seed_of_several_learns_what_it_learns_alone(axis):
    together = config("gym/CartPole-v1", seeds=3)
    alone = config("gym/CartPole-v1", seeds=1, seed=2)
    agents = []
    for run, seeds in ((together, axis(together.all_seeds)), (alone, ListedSeeds(alone.all_seeds))):
        with make_workers(run) as workers:
            learners = [learner_of(run.agent, workers.spec, seed) for seed in run.all_seeds]
            loop = HostLoop(workers, learners, seeds, run.actors, run.steps, run.rewards)
            state, _ = loop.advance(start(loop))
            agents.append(seeds.unstack(state.agent)[-1])
    for a, b in zip(*map(jax.tree.leaves, agents), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_games_are_ordered_by_group_then_seed():
    values = np.array([[0, 1, 2, 3], [10, 11, 12, 13]])
    np.testing.assert_array_equal(game_order(values, 2), [0, 1, 10, 11, 2, 3, 12, 13])
    np.testing.assert_array_equal(game_order(values, 1), values.ravel())
