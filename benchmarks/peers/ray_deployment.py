"""Ray Serve's dynamic batching, bodies in msgpack: `ray_deployment.py PORT SECONDS`."""

from __future__ import annotations

import time

import msgpack
import ray
from act import HOST, MAX_BATCH, ROUTE, WAIT_SECONDS, act, read_port, read_seconds
from ray import serve
from starlette.requests import Request
from starlette.responses import Response


@serve.deployment(max_ongoing_requests=2 * MAX_BATCH)
class Model:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @serve.batch(max_batch_size=MAX_BATCH, batch_wait_timeout_s=WAIT_SECONDS)
    async def act(self, images: list[bytes]) -> list[int]:
        return act(images, self._seconds)

    async def __call__(self, request: Request) -> Response:
        image = msgpack.unpackb(await request.body())["rgb"]
        return Response(msgpack.packb({"rows": await self.act(image)}))


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    serve.start(http_options={"host": HOST, "port": read_port()})
    serve.run(Model.bind(read_seconds()), route_prefix=ROUTE)
    while True:
        time.sleep(60)
