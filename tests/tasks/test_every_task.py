"""What holds for every auxiliary task: a new task in the registry is tested here, too."""

from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import MAIN, REPRESENTATION, AgentConfig
from rgvf.arrays import fill, named_arrays
from rgvf.questions import QuestionNetwork
from rgvf.tasks import TASKS, ActionValues, CURLSettings, GivenQuestions, RandomQuestions, View
from tests.helpers import SMALL_IMAGE, VECTOR, learner_of, trajectory

pytestmark = pytest.mark.medium

GIVEN = QuestionNetwork(
    features=["reward", "random-patches/1"],
    predictions={"gain": None, "left": "left", "right": "right"},
    edges=[
        ("gain", "reward"),
        ("gain", "gain", 0.9),
        ("left", "gain"),
        ("right", "gain"),
        ("right", "random-patches/1"),
    ],
    actions=["right", "left"],
)

UNLIKE = ("rgvf", "action-values", "pixel-control", "curl")
"""One of each kind of task."""
every_task = pytest.mark.parametrize("task", list(TASKS))


def small_settings(task):
    """The settings of a task, with few predictions."""
    if issubclass(TASKS[task], RandomQuestions):
        return TASKS[task](depth=2, repeat=3, features=4)
    if issubclass(TASKS[task], ActionValues):
        return TASKS[task](depth=2, repeat=3)
    special = {"curl": CURLSettings(outputs=8), "questions": GivenQuestions.of(GIVEN)}
    return special.get(task) or TASKS[task]()


@cache
def learner(task, stop_gradient=False, seed=0):
    config = AgentConfig(small_settings(task), stop_gradient=stop_gradient, hidden=16, learning_rate=2e-3)
    return learner_of(config, SMALL_IMAGE, seed)


@cache
def update(task, stop_gradient=False):
    return jax.jit(learner(task, stop_gradient).update)


@cache
def fresh(task, stop_gradient=False, seed=0):
    return learner(task, stop_gradient, seed).init(jax.random.key(seed))


def batch(seed=0):
    """Experience with an episode that ends at step 1 of environment 0: step 2 is a reset step."""
    return trajectory(SMALL_IMAGE, seed, steps=4, environments=3, terminal=[(1, 0)], first=[(3, 0)])


@cache
def compiled_loss(name):
    task = learner(name).tasks[1].task

    @eqx.filter_jit
    def loss(modules, state, trajectory, key):
        representation = modules[REPRESENTATION]
        view = View.of(trajectory, representation)
        return task.loss(modules[name], state, view, key)

    return loss


@cache
def compiled_gradients(name):
    """By the modules, and by the state that the task carries along."""
    loss = compiled_loss(name)

    def loss_alone(modules_and_state, trajectory, key):
        modules, state = modules_and_state
        return loss(modules, state, trajectory, key)[0]

    return eqx.filter_jit(eqx.filter_grad(loss_alone))


def loss_of(name, trajectory):
    agent = fresh(name)
    return compiled_loss(name)(agent.modules, agent.task_states[name], trajectory, jax.random.key(3))


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))]


def differ(a, b):
    return [bool(np.any(x != y)) for x, y in zip(leaves(a), leaves(b), strict=True)]


@every_task
def test_the_loss_is_one_finite_number_and_the_state_keeps_its_shape(task):
    loss, state, metrics = loss_of(task, batch())
    assert loss.shape == ()
    assert np.isfinite(loss)
    assert loss > 0
    assert metrics["loss"] == loss
    before = fresh(task).task_states[task]
    assert jax.tree.structure(state) == jax.tree.structure(before)
    assert [leaf.shape for leaf in leaves(state)] == [leaf.shape for leaf in leaves(before)]


@every_task
def test_learners_and_tasks_can_be_compared_and_be_keys(task):
    made, other = learner(task), learner(task, seed=1)
    assert made == made
    assert made != other
    assert len({made, other, *made.tasks, *other.tasks}) >= 4


@every_task
def test_the_loss_falls_on_a_fixed_batch(task):
    agent, experience = fresh(task, stop_gradient=True), batch()
    # Every episode ends within the batch: what is predicted has an end, too.
    experience = experience._replace(terminal=experience.terminal.at[-1].set(True))
    losses = []
    for _ in range(100):
        agent, metrics = update(task, stop_gradient=True)(agent, experience, jax.random.key(3))
        losses.append(float(metrics[f"{task}/loss"]))
    assert max(losses[-5:]) < 0.5 * losses[0]


@every_task
def test_gradients_reach_the_representation_and_the_task_s_own_head_and_nothing_else(task):
    agent = fresh(task)
    after, _ = update(task, stop_gradient=True)(fresh(task, stop_gradient=True), batch(), jax.random.key(3))
    assert all(differ(agent.modules[REPRESENTATION], after.modules[REPRESENTATION]))
    assert all(differ(agent.modules[task], after.modules[task]))

    both = agent.modules, agent.task_states[task]
    by_modules, by_state = compiled_gradients(task)(both, batch(), jax.random.key(3))
    assert not any(np.any(leaf) for leaf in leaves(by_modules[MAIN]))
    assert not any(np.any(leaf) for leaf in leaves(by_state))


@every_task
def test_with_stop_gradient_rewards_teach_the_representation_nothing(task):
    """The main task's part of the update leaves the representation where the auxiliary task alone puts it."""
    agent, key = fresh(task, stop_gradient=True), jax.random.key(3)
    both, _ = update(task, stop_gradient=True)(agent, batch(), key)
    main, trained = learner(task, stop_gradient=True).tasks
    assert not main.trains_representation
    group_key = jax.random.split(key)[1]
    task_key = jax.random.split(group_key)[1]
    gradients, _ = compiled_gradients(task)((agent.modules, agent.task_states[task]), batch(), task_key)
    own, own_gradients = ({name: each[name] for name in (REPRESENTATION, task)} for each in (agent.modules, gradients))
    parameters = eqx.filter(own, eqx.is_inexact_array)
    with jax.numpy_dtype_promotion("standard"):  # for Optax
        changes, _ = trained.optimiser.update(own_gradients, agent.optimiser_states[task], parameters)
    alone = eqx.apply_updates(own, changes)
    for a, b in zip(leaves(both.modules[REPRESENTATION]), leaves(alone[REPRESENTATION]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@every_task
def test_no_loss_depends_on_a_reset_step(task):
    """Whatever action and reward it has, and whatever observation follows."""
    experience = batch()
    other = experience._replace(
        action=experience.action.at[2, 0].set((experience.action[2, 0] + 1) % 3),
        reward=experience.reward.at[2, 0].set(100.0),
    )
    np.testing.assert_array_equal(loss_of(task, experience)[0], loss_of(task, other)[0])
    if task == "curl":  # compares observations: the one that a reset step starts from is masked
        changed = experience._replace(observation=experience.observation.at[2, 0].set(7))
        np.testing.assert_allclose(loss_of(task, experience)[0], loss_of(task, changed)[0], rtol=1e-6)


@pytest.mark.parametrize("task", [task for task in TASKS if task != "curl"])  # CURL has no targets
def test_nothing_is_bootstrapped_across_the_end_of_an_episode(task):
    """What comes after a terminal step changes no target before it, and nothing but the flag tells that it is one."""
    experience = batch()
    alone = jax.tree.map(lambda x: x[:, :1], experience)
    changed = alone._replace(
        observation=alone.observation.at[3:].set(9),
        reward=alone.reward.at[2:].set(5.0),
        action=alone.action.at[3].set(0),
    )
    upto_end = partial(_loss_of_steps, task, 2)
    np.testing.assert_allclose(upto_end(alone), upto_end(changed), rtol=1e-5)
    endless = alone._replace(terminal=jnp.zeros_like(alone.terminal))
    if task not in ("rgvf-shallow", "reward-prediction"):  # which look one step ahead only
        assert abs(upto_end(alone) / upto_end(endless) - 1) > 1e-4
    if task in ("mhvp", "termination-prediction"):  # whose features are not of the screen
        elsewhere = alone._replace(observation=alone.observation.at[2].set(9))
        np.testing.assert_allclose(upto_end(alone), upto_end(elsewhere), rtol=1e-5)
        assert abs(upto_end(endless) / upto_end(elsewhere._replace(terminal=endless.terminal)) - 1) > 1e-4


def _loss_of_steps(task, steps, trajectory):
    """The loss of the first steps alone: all later ones are marked as reset steps."""
    return loss_of(task, trajectory._replace(first=trajectory.first.at[steps + 1 :].set(True)))[0]


@pytest.mark.parametrize(
    "task", [pytest.param(each, marks=[pytest.mark.slow] * (each not in UNLIKE)) for each in TASKS]
)
def test_seeds_together_equal_the_seeds_alone(task):
    agents = [fresh(task, seed=seed) for seed in (0, 1)]
    batches = [batch(seed) for seed in (0, 1)]
    keys = jax.random.split(jax.random.key(5), 2)
    stack = partial(jax.tree.map, lambda *x: jnp.stack(x))
    together, _ = jax.jit(jax.vmap(learner(task).update))(stack(*agents), stack(*batches), keys)
    for seed in (0, 1):
        alone, _ = update(task)(agents[seed], batches[seed], keys[seed])
        for a, b in zip(leaves(alone.modules), leaves(together.modules), strict=True):
            np.testing.assert_allclose(a, b[seed], atol=1e-5)


@every_task
def test_a_saved_agent_resumes_exactly(task):
    agent, _ = update(task)(fresh(task), batch(), jax.random.key(0))
    restored = fill(fresh(task), named_arrays(agent))
    ahead, _ = update(task)(agent, batch(1), jax.random.key(1))
    other, _ = update(task)(restored, batch(1), jax.random.key(1))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool(jnp.all(a == b)), ahead, other))


def test_tasks_can_be_combined_each_with_its_own_optimiser_and_c():
    tasks = [RandomQuestions(depth=2, repeat=3), "pixel-control", "curl"]
    combined = learner_of(AgentConfig(tasks, c=(1.0, 0.5, 0.0), hidden=16, stop_gradient=True), SMALL_IMAGE)
    assert [each.name for each in combined.tasks] == [MAIN, "rgvf", "pixel-control", "curl"]
    agent = combined.init(jax.random.key(0))
    assert set(agent.optimiser_states) == {MAIN, "rgvf", "pixel-control", "curl"}
    after, metrics = jax.jit(combined.update)(agent, batch(), jax.random.key(1))
    assert {"rgvf/loss", "pixel-control/loss", "curl/loss"} <= metrics.keys()
    assert all(differ(agent.modules["rgvf"], after.modules["rgvf"]))
    assert all(differ(agent.modules["pixel-control"], after.modules["pixel-control"]))
    assert not any(differ(agent.modules["curl"], after.modules["curl"]))


@pytest.mark.parametrize("task", ["pixel-control", "curl"])
def test_tasks_about_images_need_one(task):
    with pytest.raises(ValueError, match=f"{task} needs an image"):
        learner_of(AgentConfig(task), VECTOR)
