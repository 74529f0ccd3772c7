"""The outer form of a frame: a fixed prefix, a header, a body.

Knows nothing of what stands in them.
"""

from __future__ import annotations

import struct

from nodeset.errors import WireError

MAGIC = b"WFR1"
PREFIX = struct.Struct("<4sHHIQ")
"""Magic, flags, number of buffers, header length, body length."""
NOTICE = 1
"""The flag of a frame that is no message: it tells of memory that both ends map."""
MAX_HEADER_BYTES = 16 * 2**20
MAX_BODY_BYTES = 2**30
MAX_BUFFERS = 1024


def pack_prefix(
    header_bytes: int, *, flags: int = 0, buffers: int = 0, body_bytes: int = 0
) -> bytes:
    """Return the bytes that come before the header."""
    return PREFIX.pack(MAGIC, flags, buffers, header_bytes, body_bytes)


def check_bounds(
    buffers: int,
    header: int,
    body: int,
    *,
    max_header: int = MAX_HEADER_BYTES,
    max_body: int = MAX_BODY_BYTES,
) -> None:
    """Raise WireError for a frame that is too large."""
    if buffers <= MAX_BUFFERS and header <= max_header and body <= max_body:
        return
    for what, value, limit in (
        ("arrays", buffers, MAX_BUFFERS),
        ("bytes of header (all that is not an array)", header, max_header),
        ("bytes of arrays", body, max_body),
    ):
        if value > limit:
            raise WireError(f"a frame of {value} {what} is too large; at most {limit} may cross")
