"""Serve one page on 127.0.0.1, to whoever knows its token."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError

if TYPE_CHECKING:
    from starlette.applications import Starlette

HOST = "127.0.0.1"


def application(page: str, token: str) -> Starlette:
    """Return an ASGI application that gives the page at `/<token>/`, and nothing else to nobody else.

    The Host header must be that of this machine: a page of another site that has its own name
    point here is refused. Raises InputError if starlette is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.requests import Request
        from starlette.responses import HTMLResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise _missing() from None

    def give(request: Request) -> Response:
        if not secrets.compare_digest(request.path_params["token"].encode(), token.encode()):
            return PlainTextResponse("not found", 404)
        return HTMLResponse(page, headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})

    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False)
    return Starlette(routes=[Route("/{token}/", give)], middleware=[hosts])


def serve(page: str, *, port: int, open_browser: bool, say: Callable[[str], Any]) -> None:
    """Serve until Ctrl-C. Raises InputError: the port is taken, or the extra is not installed."""
    try:
        import uvicorn
    except ImportError:
        raise _missing() from None
    token = secrets.token_urlsafe(24)
    app = application(page, token)
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
    uvicorn.Server(config).run(sockets=[listener])


def _missing() -> InputError:
    return InputError("the live view needs starlette and uvicorn; run: pip install 'tocsin[view]'")
