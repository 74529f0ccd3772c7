"""A queue with a timeout behind FastAPI, bodies in msgpack: `fastapi_queue.py PORT SECONDS`."""

from __future__ import annotations

import asyncio
import time

import msgpack
import uvicorn
from act import HOST, MAX_BATCH, ROUTE, WAIT_SECONDS, act, read_port, read_seconds
from fastapi import FastAPI, Request, Response

Waiting = tuple[bytes, "asyncio.Future[int]"]


class Queue:
    """Requests that wait, served as soon as a batch is full or its first one has waited."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._queue: asyncio.Queue[Waiting] = asyncio.Queue()
        self._worker = asyncio.ensure_future(self._work())

    async def ask(self, image: bytes) -> int:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((image, future))
        return await future

    async def _work(self) -> None:
        while True:
            waiting = await self._gather()
            images = [image for image, _ in waiting]
            rows = await asyncio.to_thread(act, images, self._seconds)
            for (_, future), count in zip(waiting, rows, strict=True):
                future.set_result(count)

    async def _gather(self) -> list[Waiting]:
        waiting = [await self._queue.get()]
        deadline = time.monotonic() + WAIT_SECONDS
        while len(waiting) < MAX_BATCH:
            try:
                left = deadline - time.monotonic()
                waiting.append(await asyncio.wait_for(self._queue.get(), left))
            except TimeoutError:
                break
        return waiting


app = FastAPI()


async def post(request: Request) -> Response:
    if not hasattr(app.state, "queue"):
        app.state.queue = Queue(read_seconds())
    rows = await app.state.queue.ask(msgpack.unpackb(await request.body())["rgb"])
    return Response(msgpack.packb({"rows": rows}))


if __name__ == "__main__":
    app.add_route(ROUTE, post, methods=["POST"])
    uvicorn.run(app, host=HOST, port=read_port(), log_level="critical")
