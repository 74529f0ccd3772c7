"""Videos of any size that play."""

import av
import numpy as np
import pytest

from wayfare.evals import video
from wayfare.evals.video import MissingVideoError, Mp4Writer, VideoError, VideoFormat, pad_to_even


def frames(count, width, height):
    ramp = np.linspace(0, 255, width).astype(np.uint8)
    for number in range(count):
        frame = np.zeros((height, width, 3), np.uint8)
        frame[:] = np.roll(ramp, number)[None, :, None]
        frame.setflags(write=False)
        yield frame


@pytest.mark.parametrize(
    ("size", "padded"), [((64, 64), (64, 64)), ((101, 67), (102, 68)), ((1, 1), (2, 2))]
)
def test_a_video_of_any_size_plays_with_every_frame(tmp_path, size, padded):
    shown = list(frames(12, *size))
    writer = Mp4Writer(tmp_path / "a.part")
    for frame in shown:
        writer.write(frame)

    assert writer.close() == VideoFormat(12, *padded)
    with av.open(str(tmp_path / "a.part")) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert [picture.shape for picture in decoded] == [(padded[1], padded[0], 3)] * 12
    difference = decoded[5][: size[1], : size[0]].astype(int) - shown[5]
    assert np.abs(difference).mean() < 8


def test_an_odd_side_repeats_its_last_row_or_column():
    frame = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)

    even = pad_to_even(frame)

    assert even.shape == (4, 4, 3)
    assert np.array_equal(even[:3, :3], frame)
    assert np.array_equal(even[3, :3], frame[2])
    assert np.array_equal(even[:, 3], even[:, 2])


def test_a_frame_of_another_size_is_refused_with_both_sizes(tmp_path):
    writer = Mp4Writer(tmp_path / "a.part")
    writer.write(np.zeros((64, 48, 3), np.uint8))

    with pytest.raises(VideoError, match="frame 1 is 48x72, but the video began with 48x64"):
        writer.write(np.zeros((72, 48, 3), np.uint8))
    writer.close()


def test_another_encoder_is_taken_where_the_best_is_missing(tmp_path, monkeypatch):
    without_x264 = {"libx999": {}, "mpeg4": {}}
    monkeypatch.setattr(video, "CODECS", without_x264)
    writer = Mp4Writer(tmp_path / "a.part")
    writer.write(np.zeros((64, 64, 3), np.uint8))
    writer.close()

    with av.open(str(tmp_path / "a.part")) as container:
        assert container.streams.video[0].codec_context.name == "mpeg4"


def test_no_encoder_at_all_is_said_before_anything_runs(monkeypatch):
    monkeypatch.setattr(video, "CODECS", {"libx999": {}})

    with pytest.raises(MissingVideoError, match="none of the encoders libx999"):
        video.check_installed()


def test_missing_pyav_is_said_with_the_command_that_brings_it(monkeypatch):
    def fail(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(video, "import_module", fail)

    with pytest.raises(MissingVideoError, match=r"PyAV.*pip install 'wayfare\[video\]'"):
        video.check_installed()
