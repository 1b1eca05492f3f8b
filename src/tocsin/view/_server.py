"""Serve one page on 127.0.0.1, to whoever knows its token; and stream to it what runs here."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tocsin.errors import InputError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from tocsin.view._live import Live

HOST = "127.0.0.1"
HOSTS = (HOST, "localhost")
IDLE = 0.004
"""Seconds between two slices of a run that is ahead of its speed."""
MOST_TEXT = 65_536
"""Longest message of a page, in characters."""


def application(page: str, token: str, make_live: Callable[[], Live] | None = None) -> Starlette:
    """Return an ASGI application that gives the page at `/<token>/`, and nothing else to nobody else.

    The Host header must be that of this machine: a page of another site that has its own name
    point here is refused. With `make_live`, what it makes is steered through `/<token>/stream`, a WebSocket, each
    connection its own. Raises InputError if starlette is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.requests import Request
        from starlette.responses import HTMLResponse, PlainTextResponse, Response
        from starlette.routing import Route, WebSocketRoute
        from starlette.websockets import WebSocket
    except ImportError:
        raise _missing() from None

    def is_known(given: str) -> bool:
        return secrets.compare_digest(given.encode(), token.encode())

    def give(request: Request) -> Response:
        if not is_known(request.path_params["token"]):
            return PlainTextResponse("not found", 404)
        return HTMLResponse(page, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})

    async def stream(socket: WebSocket) -> None:
        origin = urlsplit(socket.headers.get("origin", "")).hostname
        if make_live is None or origin not in HOSTS or not is_known(socket.path_params["token"]):
            await socket.close(1008)
            return
        await socket.accept()
        await _converse(socket, make_live())

    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)
    routes = [Route("/{token}/", give), WebSocketRoute("/{token}/stream", stream)]
    return Starlette(routes=routes, middleware=[hosts])


async def _converse(socket: Any, live: Live) -> None:
    """Answer what a page asks, and run in between while it plays, until it leaves."""
    asked: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    listening = asyncio.create_task(_listen(socket, asked))
    try:
        while True:
            if live.is_playing and asked.empty():
                for reply in await asyncio.to_thread(lambda: list(live.played())):
                    await socket.send_bytes(reply)
                if asked.empty():
                    await asyncio.sleep(0 if live.is_late else IDLE)
                    continue
            message = await asked.get()
            if message is None:
                return
            for reply in await asyncio.to_thread(lambda m=message: list(live.answer(m))):  # type: ignore[misc]
                await socket.send_bytes(reply)
    finally:
        listening.cancel()


async def _listen(socket: Any, asked: asyncio.Queue[dict[str, Any] | None]) -> None:
    """Put what the page sends into a queue; None when it leaves, or is sent away as it sends what is no message."""
    while True:
        event = await socket.receive()
        if event["type"] != "websocket.receive":
            break
        message = _read(event.get("text"))
        if message is None:
            await socket.close(1003)
            break
        await asked.put(message)
    await asked.put(None)


def _read(text: str | None) -> dict[str, Any] | None:
    try:
        message = json.loads(text) if text is not None and len(text) <= MOST_TEXT else None
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def serve(
    page: str,
    *,
    port: int,
    open_browser: bool,
    say: Callable[[str], Any],
    make_live: Callable[[], Live] | None = None,
) -> None:
    """Serve until Ctrl-C. Raises InputError: the port is taken, or the extra is not installed."""
    try:
        import uvicorn

        if make_live is not None:
            import websockets  # noqa: F401 (uvicorn finds it)
    except ImportError:
        raise _missing() from None
    token = secrets.token_urlsafe(24)
    app = application(page, token, make_live)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise InputError(f"--port {port}: {error.strerror or error}; take another one, or 0 for any") from None
    address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
    say(f"{address}\nCtrl-C ends it.")
    if open_browser:
        webbrowser.open(address)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        uvicorn.Server(config).run(sockets=[listener])


def _missing() -> InputError:
    return InputError("the live view needs starlette, uvicorn and websockets; run: pip install 'tocsin[view]'")
