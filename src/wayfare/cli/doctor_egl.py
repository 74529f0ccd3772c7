"""Ask EGL for its devices and what renders on each, and print the answer as JSON.

Knows nothing of Wayfare: it runs as a process of its own, since drivers may hang or crash.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
from typing import Any

_EXTENSIONS, _VENDOR, _DRM_FILE = 0x3055, 0x3053, 0x3233
_PLATFORM_DEVICE, _OPENGL = 0x313F, 0x30A2
_RENDERABLE_TYPE, _OPENGL_BIT, _SURFACE_TYPE, _NONE = 0x3040, 0x0008, 0x3033, 0x3038
_GL_RENDERER = 0x1F01
_MAX_DEVICES = 64
_Pointer = ctypes.c_void_p


class Egl:
    """The library's functions, typed as they are called."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._find = library.eglGetProcAddress
        self._find.restype, self._find.argtypes = _Pointer, [ctypes.c_char_p]

    def call(self, name: str, result: Any, *arguments: tuple[Any, Any]) -> Any:
        """Call a function by its name; raises LookupError if there is none."""
        address = self._find(name.encode())
        if not address:
            raise LookupError(f"no {name}")
        function = ctypes.CFUNCTYPE(result, *(kind for kind, _ in arguments))(address)
        return function(*(value for _, value in arguments))

    def text(self, name: str, *arguments: tuple[Any, Any]) -> str:
        """Call a function that returns text."""
        found = self.call(name, ctypes.c_char_p, *arguments)
        return found.decode(errors="replace") if found else ""


def list_devices() -> list[dict[str, Any]] | str:
    """Return what is known of each device, or why there is none."""
    name = ctypes.util.find_library("EGL") or "libEGL.so.1"
    try:
        egl = Egl(ctypes.CDLL(name))
    except OSError:
        return "no libEGL"
    handles = (_Pointer * _MAX_DEVICES)()
    count = ctypes.c_int()
    try:
        egl.call(
            "eglQueryDevicesEXT",
            ctypes.c_uint,
            (ctypes.c_int, _MAX_DEVICES),
            (_Pointer, ctypes.cast(handles, _Pointer)),
            (_Pointer, ctypes.cast(ctypes.pointer(count), _Pointer)),
        )
    except LookupError as error:
        return f"EGL can't list devices ({error})"
    if not count.value:
        return "EGL has no device"
    return [_describe(egl, index, handles[index]) for index in range(count.value)]


def _describe(egl: Egl, index: int, device: Any) -> dict[str, Any]:
    known = egl.text("eglQueryDeviceStringEXT", (_Pointer, device), (ctypes.c_int, _EXTENSIONS))
    found: dict[str, Any] = {"index": index, "is_software": "software" in known, "error": ""}
    found |= {"file": "", "vendor": "", "version": "", "renderer": ""}
    if "EGL_EXT_device_drm" in known.split():
        arguments = (_Pointer, device), (ctypes.c_int, _DRM_FILE)
        found["file"] = egl.text("eglQueryDeviceStringEXT", *arguments)
    try:
        found |= _open(egl, device)
    except (LookupError, OSError) as error:
        found["error"] = str(error)
    return found


def _open(egl: Egl, device: Any) -> dict[str, Any]:
    display = egl.call(
        "eglGetPlatformDisplayEXT",
        _Pointer,
        (ctypes.c_uint, _PLATFORM_DEVICE),
        (_Pointer, device),
        (_Pointer, None),
    )
    major, minor = ctypes.c_int(), ctypes.c_int()
    pointers = [(_Pointer, ctypes.cast(ctypes.pointer(n), _Pointer)) for n in (major, minor)]
    if not display or not egl.call("eglInitialize", ctypes.c_uint, (_Pointer, display), *pointers):
        raise OSError("eglInitialize fails")
    vendor = egl.text("eglQueryString", (_Pointer, display), (ctypes.c_int, _VENDOR))
    version = f"{major.value}.{minor.value}"
    return {"vendor": vendor, "version": version, "renderer": _find_renderer(egl, display)}


def _find_renderer(egl: Egl, display: Any) -> str:
    """Return what OpenGL calls itself in a context without a surface; "" if there is none."""
    attributes = (ctypes.c_int * 5)(_RENDERABLE_TYPE, _OPENGL_BIT, _SURFACE_TYPE, 0, _NONE)
    config, count = _Pointer(), ctypes.c_int()
    shown = (_Pointer, display)
    egl.call("eglBindAPI", ctypes.c_uint, (ctypes.c_uint, _OPENGL))
    egl.call(
        "eglChooseConfig",
        ctypes.c_uint,
        shown,
        (_Pointer, ctypes.cast(attributes, _Pointer)),
        (_Pointer, ctypes.cast(ctypes.pointer(config), _Pointer)),
        (ctypes.c_int, 1),
        (_Pointer, ctypes.cast(ctypes.pointer(count), _Pointer)),
    )
    nothing = (_Pointer, None)
    context = egl.call("eglCreateContext", _Pointer, shown, (_Pointer, config), nothing, nothing)
    made = context and egl.call(
        "eglMakeCurrent", ctypes.c_uint, shown, nothing, nothing, (_Pointer, context)
    )
    return egl.text("glGetString", (ctypes.c_uint, _GL_RENDERER)) if made else ""


if __name__ == "__main__":
    print(json.dumps(list_devices()), flush=True)
    os._exit(0)  # drivers may hang in their exit handlers
