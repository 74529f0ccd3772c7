"""The payloads over HTTP: `transport_http.py http-msgpack PATH` serves them on a Unix socket.

Knows nothing of Wayfare.
"""

from __future__ import annotations

import sys

import msgpack
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from transport_peer import answer, pack


async def post(request: Request) -> Response:
    return Response(pack(answer(msgpack.unpackb(await request.body()))))


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", post, methods=["POST"])])
    uvicorn.run(app, uds=sys.argv[2], log_level="critical")
