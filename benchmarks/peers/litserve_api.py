"""LitServe's dynamic batching, bodies in the JSON that it reads: `litserve_api.py PORT SECONDS`."""

from __future__ import annotations

import base64
from typing import Any

import litserve
from act import HOST, MAX_BATCH, ROUTE, WAIT_SECONDS, act, read_port, read_seconds


class Api(litserve.LitAPI):
    def setup(self, device: Any) -> None:
        self.seconds = read_seconds()

    def decode_request(self, request: dict[str, str]) -> bytes:
        return base64.b64decode(request["rgb"])

    def batch(self, inputs: list[bytes]) -> list[bytes]:
        return inputs

    def predict(self, images: list[bytes]) -> list[int]:
        return act(images, self.seconds)

    def unbatch(self, output: list[int]) -> list[int]:
        return output

    def encode_response(self, output: int) -> dict[str, int]:
        return {"rows": output}


if __name__ == "__main__":
    api = Api(max_batch_size=MAX_BATCH, batch_timeout=WAIT_SECONDS, api_path=ROUTE)
    server = litserve.LitServer(api, accelerator="cpu")
    server.run(host=HOST, port=read_port(), log_level="critical", generate_client_file=False)
