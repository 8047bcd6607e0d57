"""Films that browsers play."""

import av
import numpy as np

from rgvf.analysis.film import write_film


def test_a_film_is_h264_with_a_frame_for_each_step(tmp_path):
    rng = np.random.default_rng(0)
    screens = [rng.integers(0, 256, size=(20, 16, 3)).astype(np.uint8) for _ in range(5)]
    policy = np.full((5, 2), 0.5)
    path = write_film(tmp_path / "film.mp4", screens, policy, ("left", "right"), {"value": (np.ones(5), np.zeros(5))})
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert len(list(film.decode(video=0))) == 5
