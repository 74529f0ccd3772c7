"""Make a wheel of the installed `nodeset`, so that it can take part in a resolution.

Knows nothing of environments. What is installed here need not have come from a wheel.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import nodeset

NAME = "nodeset"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_WHEEL = "Wheel-Version: 1.0\nGenerator: wayfare\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def list_requirements() -> list[str]:
    """Return what the package requires."""
    return sorted(distribution(NAME).requires or ())


def write_wheel(folder: Path) -> Path:
    """Return the file of a wheel of the package, made in the folder; the same bytes each time."""
    about = distribution(NAME)
    root = Path(nodeset.__file__).parent
    paths = sorted(p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc")
    files = {f"{NAME}/{path.relative_to(root)}": path.read_bytes() for path in paths}
    information = f"{NAME}-{about.version}.dist-info"
    files[f"{information}/METADATA"] = str(about.read_text("METADATA") or "").encode()
    files[f"{information}/WHEEL"] = _WHEEL.encode()
    target = folder / f"{NAME}-{about.version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as wheel:
        records = [_add(wheel, name, content) for name, content in sorted(files.items())]
        listing = f"{information}/RECORD"
        _add(wheel, listing, "".join([*records, f"{listing},,\n"]).encode())
    return target


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> str:
    """Add a file; return its line in the wheel's list."""
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"
