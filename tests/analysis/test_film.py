"""Films that browsers play, and what they show."""

import av
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from rgvf.analysis.film import check_file, write_film
from rgvf.analysis.film_page import SCREEN, SIZE, Curve, Film, pages
from rgvf.analysis.plots import COLOURS
from rgvf.errors import UserError

T = 5


@pytest.fixture
def film():
    rng = np.random.default_rng(0)
    screens = [np.full((20, 16, 3), 40 * t, np.uint8) for t in range(T)]
    dots = np.array([1.0, np.nan, 2.0, np.nan, 1.5])
    curves = [Curve("value", np.ones(T), np.full(T, np.nan)), Curve("if LEFT", rng.random(T), None, dots)]
    return Film(
        "a game", screens, np.full((T, 2), 0.5), ("left", "right"), np.array([0, 1, 0, 1, 1]), np.ones(T), curves
    )


def test_a_film_is_h264_with_a_frame_for_each_step(tmp_path, film):
    path = write_film(tmp_path / "film.mp4", film)
    with av.open(str(path)) as found:
        stream = found.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert (stream.width, stream.height) == SIZE
        assert len(list(found.decode(video=0))) == T
        assert stream.average_rate == 2  # slow: else it would be over in a moment


@pytest.mark.parametrize(("steps", "speed"), [(1, 2), (12, 2), (60, 10), (90, 15), (6000, 15)])
def test_short_films_are_slow(monkeypatch, tmp_path, film, steps, speed):
    speeds = []
    monkeypatch.setattr("rgvf.analysis.film._write_mp4", lambda path, film, speed, report: speeds.append(speed))
    with pytest.raises(UserError, match=r"cannot write the film .*: No such file"):  # nothing was written
        write_film(tmp_path / "film.mp4", film._replace(screens=film.screens[:1] * steps))
    assert speeds == [speed]


def test_a_film_that_cannot_be_written_is_named_before_anything_is_played(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot write the film .*file/film.mp4: "):
        check_file(tmp_path / "file" / "film.mp4")
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(UserError, match=r"cannot write the film .*folder.mp4: it is a folder"):
        check_file(tmp_path / "folder.mp4")
    assert list(check_file(tmp_path / "new" / "film.mp4").parent.iterdir()) == []


def test_or_a_gif(tmp_path, film):
    with Image.open(write_film(tmp_path / "film.gif", film)) as found:
        assert found.n_frames == T  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValueError, match=r"an .mp4 or a .gif file"):
        write_film(tmp_path / "film.avi", film)


def test_a_gif_keeps_colours_that_come_late(tmp_path, film):
    orange = np.full((20, 16, 3), (255, 140, 0), np.uint8)
    with Image.open(write_film(tmp_path / "film.gif", film._replace(screens=[*film.screens[:-1], orange]))) as found:
        found.seek(T - 1)
        left, top, width, height = SCREEN
        shown = np.asarray(found.convert("RGB"))[top + height // 2, left + width // 2]
    np.testing.assert_allclose(shown, (255, 140, 0), atol=8)


def test_a_page_shows_the_screen_and_marks_the_patch_in_the_colour_of_its_curve(film):
    patch = (0.5, 0.25, 0.25, 0.25)  # left, top, width, height
    curve = film.curves[1]._replace(patches=(patch,))
    marked = film._replace(curves=[film.curves[0], curve])
    plain = [page.copy() for page in pages(film)]
    left, top, width, height = SCREEN
    wide = round(height * 16 / 20)  # as high as it may be
    left += (width - wide) // 2
    colour = np.array(to_rgb(COLOURS[1])) * 255
    for t, page in enumerate(pages(marked)):
        inside = plain[t][top + 4 : top + height - 4, left + 4 : left + wide - 4]
        assert (inside == 40 * t).all()
        changed = np.argwhere((page != plain[t]).any(-1)) - (top, left)
        low, high = changed.min(0) / (height, wide), changed.max(0) / (height, wide)
        np.testing.assert_allclose(low, (0.25, 0.5), atol=0.02)
        np.testing.assert_allclose(high, (0.5, 0.75), atol=0.02)
        assert (np.abs(page - colour).max(-1) < 3).any()


def test_titles_never_run_out_of_the_picture(film):
    plain = next(pages(film)).copy()
    long = "if action 0, action 1: " + " + ".join(f"feature {k}" for k in range(30))
    curves = [curve._replace(title=long) for curve in film.curves]
    page = next(pages(film._replace(title=f"gym/Any-v0?{'name=value&' * 20}, rgvf", curves=curves)))
    assert (page[:, -4:] == plain[:, -4:]).all()
    assert (page[:40, 450:] == plain[:40, 450:]).all()  # the legend is not written over
    assert (page != plain).any()


def test_actions_are_called_as_the_environment_calls_them(film):
    """Upper case is another picture."""
    lower, upper = (
        next(pages(film._replace(actions=names))).copy() for names in (("left", "right"), ("LEFT", "RIGHT"))
    )
    assert (lower[430:, :390] != upper[430:, :390]).any()  # below the bars
    assert (lower[35:60, :390] != upper[35:60, :390]).any()  # the action taken


def test_what_the_last_action_gives_is_in_the_picture(film):
    """The same page but for the reward of its action."""
    *_, with_it = (page.copy() for page in pages(film))
    *_, without = (page.copy() for page in pages(film._replace(reward=film.reward * (np.arange(T) < T - 1))))
    changed = np.argwhere((with_it != without).any(-1))
    assert len(changed) > 10
    assert (changed.min(0) >= (35, 0)).all()
    assert (changed.max(0) < (64, 390)).all()


def test_the_line_about_a_step_ends_before_the_curves(film):
    """However long the name of its action is."""
    actions = "left", "turn_right+move_forward+attack+use_the_medikit+jump+crouch"
    *_, plain = (page.copy() for page in pages(film))
    *_, page = (page.copy() for page in pages(film._replace(actions=actions, reward=-1e4 * film.reward)))
    assert (page[35:60, 450:] == plain[35:60, 450:]).all()
    assert (page[35:60, 390:450] != 255).any()
    *_, other = (page.copy() for page in pages(film._replace(actions=actions, reward=-2e4 * film.reward)))
    assert (page[35:60, :450] != other[35:60, :450]).any()  # the reward is not what is cut


def test_only_what_moves_is_drawn_again(film):
    """The title, the axes and the legend are the same in every picture; bars, screen and curves are not."""
    first, second = (page.copy() for page, _ in zip(pages(film), range(2), strict=False))
    same = (first == second).all(-1)
    assert same.mean() > 0.7
    assert same[:35].all()
    assert not same[430:490, :390].all()  # the action taken


CRAFT = [f"make-{what}-{tool}" for what in ("wood", "stone", "iron") for tool in ("pickaxe", "sword", "table")]
TURNS = ["turn_right+move_forward", "a_name_that_is_far_too_long_for_any_film", *"cdefgh"]


@pytest.mark.parametrize("actions", [CRAFT, TURNS, [*CRAFT, *TURNS], [f"an-action-{i}" for i in range(36)]])
def test_actions_with_long_names_have_rows_with_the_name_on_the_left(actions):
    n = len(actions)
    policy = np.full(n, 0.2 / (n - 1))
    policy[:2] = 0.4, 0.2
    screens, values = [np.zeros((20, 16, 3), np.uint8)] * n, np.zeros(n)
    film = Film("a game", screens, np.tile(policy, (n, 1)), actions, np.arange(n), values, [Curve("value", values)])
    places = {}
    for page in pages(film):  # each action is taken once
        taken = (np.abs(page[:, :400] - np.array(to_rgb(COLOURS[4])) * 255) < 3).all(-1)
        rows, columns = np.nonzero(taken)
        assert 8 <= np.ptp(rows) + 1 <= 20
        assert SCREEN[1] + SCREEN[3] * 3 // 4 < rows.min()
        assert rows.max() < SIZE[1]
        assert SCREEN[0] + 40 < columns.min()
        assert columns.max() < SCREEN[0] + SCREEN[2]
        places[columns.min() // 30, rows.min()] = np.ptp(columns) + 1
    assert len(places) == n  # each has a row of its own
    first, second, *_ = places.values()
    assert first == pytest.approx(2 * second, abs=4)
    assert first > 30  # the longest bar is as long as there is room, however many actions there are


def test_names_of_actions_are_on_the_page_where_there_is_room(film):
    """Another name is another picture beside the bars, unless there are too many; none reaches the bars."""
    for n, is_shown in ((9, True), (36, True), (60, False)):
        actions, policy = [f"an-action-{i}" for i in range(n)], np.full((T, n), 1 / n)
        shown = film._replace(actions=actions, policy=policy)
        page = next(pages(shown)).copy()
        other = next(pages(shown._replace(actions=[*actions[:-1], "s" * 50])))
        changed = (page != other)[SCREEN[1] + SCREEN[3] :, :390].any()
        assert changed == is_shown
        assert (page[-3:, :390] == 255).all()
        assert (other[-3:, :390] == 255).all()


def test_the_screen_leaves_room_for_the_rows(film):
    n = len(CRAFT) + len(TURNS)
    page = next(pages(film._replace(actions=[*CRAFT, *TURNS], policy=np.full((T, n), 1 / n))))
    left, top, width, height = SCREEN
    black = np.nonzero((page[:, left + width // 2] == 0).all(-1))[0]
    assert top <= black.min() <= top + 2
    assert height * 4 // 5 < np.ptp(black) < height
