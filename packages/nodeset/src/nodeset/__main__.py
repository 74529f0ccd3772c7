"""The command line of a nodeset's own interpreter: `python -m nodeset host FILE …`.

Knows nothing of runs; whoever starts it reads its exit status and its stderr.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any, Dict, List, Optional

from nodeset.errors import AuthorError, NodeSetError
from nodeset.host import AutoServerApp, ExitStatus
from nodeset.host.address import AddressError, is_tcp, listen
from nodeset.host.page import CallPage
from nodeset.host.server import SocketServer
from nodeset.loading import load_nodeset

LINGER_SECONDS = 5.0
"""How long threads and exit handlers of the author may hold up the end of the process."""


def main(arguments: Optional[List[str]] = None) -> int:
    """Host one nodeset until it is told to end; return the exit status."""
    options = _read_options(arguments)
    _give_way()
    faulthandler.enable()  # a crash in native code says which Python code had called it
    try:
        token = _read_token(options)
        config = _read_config(options.config)
    except ValueError as error:
        return _fail(ExitStatus.WRONG_USAGE, str(error))
    try:
        listener = listen(options.listen)
    except AddressError as error:
        return _fail(ExitStatus.CANNOT_LISTEN, str(error))
    try:
        page = CallPage.open(options.page) if options.page else CallPage()
    except OSError as error:
        return _fail(ExitStatus.WRONG_USAGE, f"--page {options.page!r} can't be mapped: {error}")
    app = AutoServerApp(
        partial(load_nodeset, options.file, options.name, config),
        name=options.name,
        tag=options.tag or options.name,
        page=page,
    )
    server = SocketServer(app, listener, token)
    server.start()
    _say(f"{options.tag or options.name or options.file} listens at {listener.describe()}")
    try:
        status = app.run()
    finally:
        server.stop()
    return _fail(status, _explain(app.failure)) if app.failure is not None else status


def _give_way() -> None:
    """Have whoever wakes this process go on first: a worker may have more calls to send."""
    with suppress(AttributeError, OSError):  # not known or not allowed here: it is speed alone
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _read_options(arguments: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m nodeset", description=__doc__)
    host = parser.add_subparsers(dest="command", required=True).add_parser(
        "host", help="serve one nodeset over a socket"
    )
    host.add_argument("file", metavar="FILE_OR_MODULE", help="the nodeset's file, folder or module")
    host.add_argument("--name", default="", help="the nodeset's name (none: the only one there)")
    host.add_argument("--tag", default="", help="what this copy is called (none: the name)")
    host.add_argument("--listen", required=True, metavar="unix:PATH|tcp:HOST:PORT")
    host.add_argument("--config", default="{}", metavar="JSON", help="over its default_config")
    host.add_argument("--page", metavar="FILE", help="the page in which running calls are marked")
    host.add_argument("--token-env", metavar="VARIABLE", help="the variable that holds the token")
    return parser.parse_args(arguments)


def _read_token(options: argparse.Namespace) -> Optional[str]:
    if options.token_env is None:
        if is_tcp(options.listen):
            raise ValueError(f"{options.listen!r} needs a token: name its variable by --token-env")
        return None
    token = os.environ.pop(options.token_env, "")
    if not token:
        raise ValueError(f"--token-env names {options.token_env!r}, which is not set")
    return token


def _read_config(text: str) -> Dict[str, Any]:
    try:
        config = json.loads(text)
    except ValueError as error:
        raise ValueError(f"--config {text!r} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ValueError(f"--config {text!r} must be a JSON object")
    return config


def _explain(failure: NodeSetError) -> str:
    if isinstance(failure, AuthorError):
        return f"{failure.message}\n{failure.traceback_text}"
    return str(failure)


def _fail(status: ExitStatus, message: str) -> int:
    _say(message)
    return status


def _say(message: str) -> None:
    print(f"nodeset host: {message.rstrip()}", file=sys.stderr, flush=True)  # noqa: T201


def leave(status: int) -> None:
    """End the process with `status` even if something of the author's does not end."""
    timer = threading.Timer(LINGER_SECONDS, os._exit, (status,))
    timer.daemon = True
    timer.start()
    sys.exit(status)


if __name__ == "__main__":
    leave(main())
