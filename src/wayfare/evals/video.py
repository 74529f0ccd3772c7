"""Make mp4 files of frames, with PyAV.

Knows nothing of runs, or of which frames are worth a video.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from wayfare.evals.errors import SetupError

EXTRA = "video"
FRAMES_PER_SECOND = 10
CODECS = {"libx264": {"preset": "veryfast", "crf": "20"}, "libopenh264": {}, "mpeg4": {}}
"""The encoders that are tried, the best first: the first two make H.264, which browsers play."""

Image = np.ndarray[Any, np.dtype[np.uint8]]


class MissingVideoError(SetupError):
    """Videos are asked for, but what makes them is not installed."""


class VideoError(Exception):
    """A frame does not fit into the video."""


@dataclass(frozen=True, slots=True)
class VideoFormat:
    """A finished video: how many frames of which size, which is even on both sides."""

    frames: int
    width: int
    height: int


class VideoWriter(Protocol):
    """Takes the frames of one video; `close` ends it. For one thread at a time."""

    def write(self, frame: Image) -> None:
        """Append one frame (height, width, 3). Raises whatever an encoder raises."""
        ...

    def close(self) -> VideoFormat:
        """Write what is left and close the file; a second call does nothing."""
        ...


def check_installed() -> None:
    """Raise MissingVideoError with the remedy where no video can be made."""
    _choose_codec(_import_av())


class Mp4Writer:
    """One mp4 file; its size is that of its first frame, padded to even sides."""

    def __init__(self, path: Path) -> None:
        self._av = _import_av()
        self._codec = _choose_codec(self._av)
        self._container: Any = self._av.open(str(path), "w", format="mp4")
        self._stream: Any = None
        self._shape: tuple[int, ...] = ()
        self._count = 0
        self._is_open = True

    def write(self, frame: Image) -> None:
        """Append one frame. Raises VideoError for one of another size, else what PyAV raises."""
        if self._stream is None:
            self._begin(frame.shape)
        if frame.shape != self._shape:
            raise VideoError(
                f"frame {self._count} is {_describe(frame.shape)}, but the video began with "
                f"{_describe(self._shape)}; a video has one size."
            )
        picture = self._av.VideoFrame.from_ndarray(pad_to_even(frame), format="rgb24")
        self._container.mux(self._stream.encode(picture))
        self._count += 1

    def close(self) -> VideoFormat:
        """Write what is left and close the file; a second call does nothing."""
        if self._is_open:
            self._is_open = False
            try:
                if self._stream is not None:
                    self._container.mux(self._stream.encode(None))
            finally:
                self._container.close()
                self._container = self._stream = None
                _return_memory()
        height, width = (_even(side) for side in (*self._shape, 0, 0)[:2])
        return VideoFormat(self._count, width, height)

    def _begin(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._stream = self._container.add_stream(
            self._codec, rate=FRAMES_PER_SECOND, options=CODECS[self._codec]
        )
        self._stream.height, self._stream.width = _even(shape[0]), _even(shape[1])
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.thread_count = 1  # lanes run side by side already


def pad_to_even(frame: Image) -> Image:
    """Return the frame with its last row and column repeated where their number is odd."""
    height, width = frame.shape[:2]
    if height % 2 or width % 2:
        return np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    return frame


def _return_memory() -> None:
    """Give back to the system what encoders freed in pieces between what is still in use.

    500 videos of 64x64 left the process 20 MiB larger without it, and none larger with it.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc's
        trim(0)


def _even(side: int) -> int:
    return side + side % 2


def _describe(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]}"


def _import_av() -> ModuleType:
    try:
        return import_module("av")
    except ImportError as error:
        raise MissingVideoError(
            f"--record frames makes videos with PyAV, which is not installed ({error}); "
            f"`pip install 'wayfare[{EXTRA}]'` brings it."
        ) from error


def _choose_codec(av: ModuleType) -> str:
    for codec in CODECS:
        if codec in av.codecs_available:
            return codec
    raise MissingVideoError(
        f"PyAV {av.__version__} has none of the encoders {', '.join(CODECS)}; "
        f"`pip install --force-reinstall av` brings one that has."
    )
