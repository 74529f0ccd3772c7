"""One connection of a copy: frames in, requests of its workers to the app, replies out.

Knows nothing of selectors or of the nodeset.
"""

from __future__ import annotations

import hmac
import socket
from functools import partial
from typing import Any, Callable, Dict, Optional, Tuple

from nodeset import wire
from nodeset.caller import Caller
from nodeset.errors import WireError
from nodeset.frame import MAX_BODY_BYTES, MAX_HEADER_BYTES
from nodeset.host.app import PROTOCOL, AutoServerApp
from nodeset.host.request import Message, Reply, Sent, failed, is_id, read_op
from nodeset.passive import describe
from nodeset.stream import Stream

MAX_UNANSWERED = 4096
"""Requests of one connection that may wait for their replies before no more are read."""
PAUSE_BYTES = 8 * 2**20
"""Unsent bytes from which on no more requests of a connection are read."""
_STRANGER_HEADER_BYTES = 64 * 2**10
_MAX_WORKERS = 2**31
MAX_CHANNELS = 2**14
"""Workers that may share a connection."""


class Connection:
    """Belongs to the thread that serves sockets; only `_reply` is called from others.

    Each worker that shares it has a channel, which `hello` opens and `leave` ends; a message that
    names none belongs to channel 0. `call_owner` asks that thread to look at the connection again.
    """

    def __init__(
        self,
        sock: socket.socket,
        app: AutoServerApp,
        *,
        token: Optional[str],
        call_owner: Callable[[Connection], None],
    ) -> None:
        self.socket = sock
        self._app = app
        self._channels: Dict[int, Tuple[Caller, Reply]] = {0: (app.connect(), self._reply)}
        self._stream = Stream(sock)
        self._outbox, self._decoder = self._stream.outbox, self._stream.decoder
        self._call_owner = call_owner
        self._token = token
        self._requests = 0
        self._is_ending = False
        self._is_known = token is None
        self._is_mapped = False
        if token is not None:
            self._decoder.max_header_bytes = _STRANGER_HEADER_BYTES
            self._decoder.max_body_bytes = 0

    @property
    def only_reads(self) -> bool:
        """Say whether nothing holds it up: it wants to read, not to write, and is not over."""
        outbox = self._outbox
        is_held_up = self._is_ending or outbox.is_broken or outbox.pending_bytes
        return not is_held_up and self._requests - outbox.frames < MAX_UNANSWERED

    @property
    def channels(self) -> int:
        """Return how many share it."""
        return len(self._channels)

    @property
    def is_stranger(self) -> bool:
        """Say whether a token is due that was not shown yet."""
        return not self._is_known

    @property
    def wants_read(self) -> bool:
        """Say whether more requests may be read now."""
        return (
            not self._is_ending
            and self._unanswered() < MAX_UNANSWERED
            and self._outbox.pending_bytes < PAUSE_BYTES
        )

    @property
    def wants_write(self) -> bool:
        """Say whether something waits to be sent."""
        return self._outbox.pending_bytes > 0

    @property
    def is_over(self) -> bool:
        """Say whether the connection should be closed."""
        return self._outbox.is_broken or (self._is_ending and not self.wants_write)

    def read(self) -> None:
        """Take what arrived; a malformed frame ends this connection and nothing else."""
        message: Message = {}
        try:
            for message in self._stream.receive():
                self._take(message)
        except (BlockingIOError, InterruptedError):
            return
        except (OSError, EOFError):
            self._outbox.abandon()
        except WireError as error:
            self._end(error, message)

    def flush(self) -> None:
        """Send what waits."""
        self._outbox.flush()

    def close(self) -> None:
        """Close the socket and withdraw what this connection asked for."""
        self._stream.close()
        for caller, _ in self._channels.values():
            self._app.disconnect(caller)

    def _take(self, message: Message) -> None:
        op, number = read_op(message), message.get("channel", 0)
        if op == "hello":
            self._greet(message)
            caller, reply = self._open_channel(number, message)
            self._app.submit(caller, message, partial(self._welcome, reply))
            return
        if not self._is_known:
            raise WireError("the first request must be hello, with the token")
        channel = self._channels.get(number) if type(number) is int else None
        if channel is None:
            raise WireError(f"a request has channel={describe(number)}, which no hello has opened")
        if op == "leave":
            del self._channels[number]
            self._app.disconnect(channel[0])
            return
        self._requests += 1
        self._app.submit(channel[0], message, channel[1])

    def _open_channel(self, number: Any, hello: Message) -> Tuple[Caller, Reply]:
        """Return who speaks on a channel, known or new, and how to reply there."""
        if type(number) is not int or not 0 <= number < _MAX_WORKERS:
            rule = f"it must be a whole number from 0 to {_MAX_WORKERS - 1}"
            raise WireError(f"hello has channel={describe(number)}; {rule}")
        if number not in self._channels:
            if len(self._channels) >= MAX_CHANNELS:
                raise WireError(f"at most {MAX_CHANNELS} channels may share a connection")
            reply = partial(self._reply_on, number) if number else self._reply
            self._channels[number] = self._app.connect(), reply
        channel = self._channels[number]
        channel[0].worker = hello.get("worker", -1)
        self._requests += 1
        if hello.get("mapped") is True:
            self._is_mapped = self._is_mapped or self._stream.map_memory()
        self._stream.make_room(len(self._channels))
        if self._is_mapped:
            self._stream.lend_memory(len(self._channels))
        return channel

    def _greet(self, message: Message) -> None:
        if self._token is not None and not _is_token(message.get("token"), self._token):
            raise WireError("hello has no token, or a wrong one")
        protocol, worker = message.get("protocol"), message.get("worker", -1)
        if type(protocol) is not int or protocol != PROTOCOL:
            asked = describe(protocol)
            raise WireError(f"hello asks for protocol {asked}; this host speaks {PROTOCOL}")
        if type(worker) is not int or not -1 <= worker < _MAX_WORKERS:
            rule = f"it must be a whole number from -1 to {_MAX_WORKERS - 1}"
            raise WireError(f"hello has worker={describe(worker)}; {rule}")
        self._is_known = True
        self._decoder.max_header_bytes = MAX_HEADER_BYTES
        self._decoder.max_body_bytes = MAX_BODY_BYTES

    def _welcome(self, reply: Reply, message: Message) -> Sent:
        message["ok"]["mapped"] = self._is_mapped
        return reply(message)

    def _reply_on(self, number: int, message: Message) -> Sent:
        message["channel"] = number
        return self._reply(message)

    def _reply(self, message: Message) -> Sent:
        buffers, body = self._stream.pack(message, is_kept=True)
        was_paused = self._unanswered() >= MAX_UNANSWERED
        if not self._outbox.send(buffers) or was_paused:
            self._call_owner(self)
        return body

    def _unanswered(self) -> int:
        return self._requests - self._outbox.frames

    def _end(self, error: WireError, request: Message) -> None:
        """Say why, read nothing more, and let the connection be closed."""
        self._is_ending = True
        request_id: Any = request.get("id")
        number = request.get("channel", 0)
        reply = failed(request_id if is_id(request_id) else -1, error)
        if is_id(number):
            reply["channel"] = number
        self._outbox.send(wire.encode(reply))


def _is_token(given: Any, token: str) -> bool:
    known = token.encode("utf-8", "surrogateescape")
    return isinstance(given, str) and hmac.compare_digest(given.encode("utf-8"), known)
