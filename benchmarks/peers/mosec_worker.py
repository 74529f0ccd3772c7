"""mosec's dynamic batching, bodies in msgpack: `mosec_worker.py PORT SECONDS`."""

from __future__ import annotations

import sys

import mosec
from act import HOST, MAX_BATCH, ROUTE, WAIT_SECONDS, act
from mosec.mixin import MsgpackMixin


class Model(MsgpackMixin, mosec.Worker):
    seconds = 0.0

    def forward(self, data: list[dict[str, bytes]]) -> list[dict[str, int]]:
        return [{"rows": count} for count in act([row["rgb"] for row in data], self.seconds)]


class SlowModel(Model):
    seconds = 0.005


if __name__ == "__main__":
    port, seconds = sys.argv[1], float(sys.argv[2])
    sys.argv[1:] = ["--address", HOST, "--port", port, "--log-level", "error"]
    server = mosec.Server()
    model = SlowModel if seconds else Model
    wait_ms = int(WAIT_SECONDS * 1000)
    server.append_worker(model, max_batch_size=MAX_BATCH, max_wait_time=wait_ms, route=ROUTE)
    server.run()
