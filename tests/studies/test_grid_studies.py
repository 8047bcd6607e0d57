"""The grid-world studies: what they leave in a folder, resuming, and their claims."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.features import Touch
from rgvf.questions import discounted_sum, full_tree
from rgvf.studies import Conclusion, FolderError, find_study, grid_random, grid_touch, run_study
from rgvf.studies.claims import beats, falls, matches
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.grid import GridStudy
from rgvf.studies.grid_agents import GridConfig, GridVariant, learner, random_features
from rgvf.studies.merged_states import merged_states_error

SMALL = GridConfig(seeds=2, frames=640, size=3, evaluations=4)


class Recorder:
    """A listener that keeps what it is told, and may stop the study in one of its batches."""

    def __init__(self, stop_in=None):
        self.ran, self.kept, self.fractions, self.stop_in, self.current = [], [], [], stop_in, None

    def found(self, variants):
        self.kept += variants

    def begin(self, batch):
        self.current = batch

    def progress(self, fraction):
        self.fractions.append(fraction)
        if self.current == self.stop_in:
            raise KeyboardInterrupt

    def warn(self, message):
        raise AssertionError(message)

    def finish(self, batch, seconds):
        self.ran.append(batch)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def touch_twice(tmp_path_factory):
    """The touch study run twice, the second time interrupted and resumed."""
    study = find_study("grid-touch")
    whole, interrupted = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("interrupted")
    names = ["random", "tree-1", "tree-2"]
    conclusion = run_study(study, SMALL, whole, names, Recorder())
    with pytest.raises(KeyboardInterrupt):
        run_study(study, SMALL, interrupted, names, Recorder(stop_in="tree-1"))
    left = sorted(p.name for p in (interrupted / "results").iterdir())
    recorder = Recorder()
    run_study(study, SMALL, interrupted, names, recorder)
    return whole, interrupted, left, recorder, conclusion


@pytest.mark.medium
def test_same_seed_same_bits_even_after_an_interruption(touch_twice):
    whole, interrupted, left, recorder, _ = touch_twice
    assert left == ["random.json"]
    assert recorder.kept == ["random"]
    assert recorder.ran == ["tree-1", "tree-2"]
    first, second = files(whole), files(interrupted)
    assert first.keys() == second.keys()
    assert first == second


@pytest.mark.medium
def test_the_folder_holds_what_a_reader_needs(touch_twice):
    whole, _, _, _, conclusion = touch_twice
    config = json.loads((whole / "config.json").read_text())
    assert config["study"] == "grid-touch"
    assert config["settings"]["frames"] == 640
    assert config["settings"]["discount"] == 0.98
    curves = json.loads((whole / "curves.json").read_text())
    assert (curves["x"], curves["y"]) == ("frames", "mse")
    assert list(curves["variants"]) == ["random", "tree-1", "tree-2"]
    for variant, each in curves["variants"].items():
        result = json.loads((whole / "results" / f"{variant}.json").read_text())
        assert each["seeds"] == [0, 1]
        assert each["frames"] == result["frames"]
        assert (each["frames"][0], each["frames"][-1]) == (0, 640)
        assert np.shape(each["values"]) == (2, 5)  # seeds; four evaluations and the start
        np.testing.assert_allclose(each["values"], result["values"], rtol=1e-3)
    claims = json.loads((whole / "claims.json").read_text())["claims"]
    verdicts = {claim["verdict"] for claim in claims if claim["holds"] is None}
    assert verdicts == {"not checked: this data cannot decide it"}
    assert (whole / "curves.png") in conclusion.figures
    assert (whole / "values.png") in conclusion.figures
    for figure in conclusion.figures:
        assert figure.stat().st_size > 1000
    assert (whole / "questions" / "tree-2.svg").exists()
    assert (whole / "questions" / "tree-2.json").exists()


@pytest.mark.medium
def test_the_reported_error_is_that_of_the_reported_values(touch_twice):
    whole, *_ = touch_twice
    result = Curves.from_data(json.loads((whole / "results" / "tree-1.json").read_text()))
    learned, truth = result.arrays["values"], SMALL.room.values(SMALL.discount)
    np.testing.assert_allclose(result.values[:, -1], ((learned - truth) ** 2).mean(1))
    assert not np.array_equal(learned[0], learned[1])


@pytest.mark.slow
def test_more_seeds_do_not_change_the_first_ones(touch_twice, tmp_path):
    whole, *_ = touch_twice
    study = find_study("grid-touch")
    more = GridConfig(seeds=3, frames=640, size=3, evaluations=4)
    run_study(study, more, tmp_path / "more", ["tree-2"])
    few = json.loads((whole / "results" / "tree-2.json").read_text())
    many = json.loads((tmp_path / "more" / "results" / "tree-2.json").read_text())
    np.testing.assert_allclose(many["values"][:2], few["values"], atol=1e-4)
    np.testing.assert_allclose(many["arrays"]["values"][:2], few["arrays"]["values"], atol=1e-4)


@pytest.mark.medium
def test_a_damaged_result_is_run_again(touch_twice):
    whole, *_ = touch_twice
    path = whole / "results" / "tree-1.json"
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    recorder = Recorder()
    run_study(find_study("grid-touch"), SMALL, whole, ["random", "tree-1"], recorder)
    assert recorder.ran == ["tree-1"]
    assert path.read_bytes() == good


@pytest.mark.medium
def test_a_result_of_another_form_counts_as_damaged(touch_twice, tmp_path, monkeypatch):
    study = find_study("grid-touch")
    good = json.loads((touch_twice[0] / "results" / "tree-1.json").read_text())
    monkeypatch.setattr(study, "run", lambda *_: {"tree-1": Curves.from_data(good)})
    monkeypatch.setattr(study, "conclude", lambda *_: Conclusion([], [], []))
    run_study(study, SMALL, tmp_path, ["tree-1"])
    path = tmp_path / "results" / "tree-1.json"
    assert json.loads(path.read_text()) == good
    damaged = [
        {},
        [],
        good | {"values": 3},
        good | {"frames": [], "values": [[], []]},
        good | {"values": good["values"][:1]},
        good | {"frames": [each - 1 for each in good["frames"]]},
        good | {"identity": {"variant": "tree-2"}},
        good | {"arrays": None},
        good | {"arrays": {}},
        good | {"arrays": {"values": [[0.0] * 8] * 2}},
    ]
    for text in ("", *map(json.dumps, damaged)):
        path.write_text(text)
        recorder = Recorder()
        run_study(study, SMALL, tmp_path, ["tree-1"], recorder)
        assert (recorder.kept, recorder.ran) == ([], ["tree-1"])
        assert json.loads(path.read_text()) == good
    recorder = Recorder()
    run_study(study, SMALL, tmp_path, ["tree-1"], recorder)
    assert (recorder.kept, recorder.ran) == (["tree-1"], [])


@pytest.mark.medium
def test_another_study_or_other_settings_in_the_folder_are_refused(touch_twice):
    whole, *_ = touch_twice
    before = files(whole)
    with pytest.raises(FolderError, match="holds the study grid-touch, not grid-random"):
        run_study(find_study("grid-random"), SMALL, whole)
    with pytest.raises(FolderError, match="frames = 640, not 1280"):
        run_study(find_study("grid-touch"), GridConfig(seeds=2, frames=1280, size=3, evaluations=4), whole)
    assert files(whole) == before


@pytest.mark.medium
def test_random_study_draws_every_seed_its_own_questions(tmp_path):
    config = GridConfig(seeds=2, frames=64, size=3, evaluations=1)
    run_study(find_study("grid-random"), config, tmp_path, ["random-4"])
    saved = sorted(p.name for p in (tmp_path / "questions").iterdir())
    assert saved == ["random-4.seed-0.json", "random-4.seed-1.json", "random-4.svg"]
    make = grid_random.VARIANTS["random-4"].questions
    assert make is not None
    networks = [make(config, seed)[0] for seed in (0, 1, 0)]
    assert networks[0] == networks[2] != networks[1]
    assert networks[0].n_predictions == 4 + 4 * 4 * 4
    weights = [random_features(config, seed, 4).weight for seed in (0, 1)]
    assert not np.array_equal(weights[0], weights[1])


def test_learning_rates_fall_linearly_to_zero_at_the_end_of_training():
    tree = grid_touch.VARIANTS["tree-1"]

    def rates(**decays):
        """The rate of each update, by task: Adam's step is the rate where the gradient is always 1."""
        config = GridConfig(frames=9 * 64 + 1, **decays)
        assert config.updates == 10
        found = {}
        for each in learner(config, tree, 0).tasks:
            state, steps = each.optimiser.init(jnp.zeros(())), []
            for _ in range(config.updates):
                with jax.numpy_dtype_promotion("standard"):  # as in Learner.update
                    step, state = each.optimiser.update(jnp.ones(()), state)
                steps.append(-float(jnp.asarray(step)) / config.learning_rate)
            found[each.name] = steps
        return found

    constant = [1.0] * 10
    falling = [1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
    for decays, value, answers in [
        ({}, constant, constant),
        (dict(value_rate_decay=0.5), falling, constant),
        (dict(answers_rate_decay=0.5), constant, falling),
        (dict(value_rate_decay=1.0), [(10 - t) / 10 for t in range(10)], constant),
    ]:
        found = rates(**decays)
        np.testing.assert_allclose(found["value"], value, rtol=1e-4)
        np.testing.assert_allclose(found["answers"], answers, rtol=1e-4)


def test_the_error_of_merged_states_of_questions_that_confuse_them():
    config = GridConfig()
    # Trees of depth 3 tell all 49 states of the room apart; shallower ones and the symmetric sum do not.
    assert merged_states_error(config, full_tree("touch", config.room.actions, 3), Touch()) < 1e-12
    depth_1, depth_2 = (
        merged_states_error(config, full_tree("touch", config.room.actions, d), Touch()) for d in (1, 2)
    )
    assert 0.01 < depth_2 < depth_1 < 0.33
    assert merged_states_error(config, discounted_sum(["touch"], 0.8), Touch()) > depth_1


def test_the_table_has_the_mean_over_seeds_of_the_error_with_states_merged(tmp_path):
    """Here the questions of seed 0 tell all states apart, and those of seed 1 do not."""

    def questions(config, seed):
        return full_tree("touch", config.room.actions, 1 if seed else 3), Touch()

    config = GridConfig(seeds=2)
    study = GridStudy("mixed", {"mixed": GridVariant("", questions)}, lambda *_: [], lambda *_: [])
    curves = {"mixed": Curves([1], np.zeros((2, 1)))}
    (_, row) = study.conclude(config, curves, StudyFolder(tmp_path, "mixed", {})).table
    assert float(row[-1]) == pytest.approx(merged_states_error(config, *questions(config, 1)) / 2, abs=1e-4)
    assert float(row[-1]) > 0.1


def test_claims_are_checks_on_the_data():
    luck = np.array([-0.05, 0.0, 0.05])
    finals = {"a": 0.1 + luck, "b": 0.2 + luck, "c": 0.21 - luck}
    assert beats("", "", finals, "a", ["b"]).holds is True
    assert beats("", "", finals, "b", ["c"]).holds is False  # within two standard errors of the difference
    assert falls("", "", finals, ["b", "a"]).holds is True  # the luck of a seed is the same in both
    assert falls("", "", finals, ["c", "b", "a"]).holds is False
    assert matches("", "", finals, ["b"], "c", 0.05).holds is True
    assert matches("", "", finals, ["c"], "a", 0.05).holds is False
    assert beats("", "", finals, "a", ["missing"]).holds is None
    one_seed = {name: values[:1] for name, values in finals.items()}
    assert beats("", "", one_seed, "a", ["b"]).holds is None


def test_claims_of_the_touch_study_follow_made_up_results():
    def result(error):
        mse = np.full((5, 10), error) + np.linspace(-1e-4, 1e-4, 5)[:, None]
        return Curves(list(range(10)), mse, arrays={"values": np.zeros((5, 49))})

    made_up = {"end-to-end": 0.01, "random": 0.3, "discounted-sum": 0.3}
    made_up |= {"tree-1": 0.2, "tree-2": 0.1, "tree-3": 0.01, "tree-4": 0.01}
    as_the_paper = {name: result(error) for name, error in made_up.items()}
    assert [c.holds for c in grid_touch.claims(GridConfig(), as_the_paper)] == [True] * 4
    worse = {**as_the_paper, "tree-1": result(0.35), "tree-2": result(0.4), "tree-3": result(0.2)}
    assert [c.holds for c in grid_touch.claims(GridConfig(), worse)] == [False] * 4


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (dict(seeds=0), "seeds"),
        (dict(frames=-5), "frames"),
        (dict(discount=1.0), "discount"),
        (dict(goal=(7, 0)), "goal"),
        (dict(size=0), "size"),
        (dict(representation=()), "representation"),
        (dict(learning_rate=0.0), "learning_rate"),
        (dict(learning_rate=float("nan")), "learning_rate"),
        (dict(learning_rate=float("inf")), "learning_rate"),
        (dict(wall=float("nan")), "wall"),
        (dict(value_rate_decay=1.5), "value_rate_decay"),
        (dict(answers_rate_decay=float("nan")), "answers_rate_decay"),
    ],
)
def test_settings_are_checked_with_the_field_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        GridConfig(**wrong)


def test_a_folder_that_another_process_is_just_making_can_be_used(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / ".config.json.1234").write_text("{")
    StudyFolder(tmp_path, "grid-touch", {"seeds": 1})
    StudyFolder(tmp_path, "grid-touch", {"seeds": 1})
    (tmp_path / "config.json").unlink()
    (tmp_path / "results" / "mine.json").touch()
    with pytest.raises(FolderError, match="not a study's"):
        StudyFolder(tmp_path, "grid-touch", {"seeds": 1})
