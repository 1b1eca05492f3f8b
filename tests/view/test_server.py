"""The live view answers this machine alone, and only who knows the token."""

from __future__ import annotations

import socket

import pytest
from starlette.testclient import TestClient

from tocsin.errors import InputError
from tocsin.view._server import application, serve


def client(host: str = "127.0.0.1") -> TestClient:
    return TestClient(application("<p>here</p>", "a-token"), base_url=f"http://{host}")


def test_the_page_is_given_for_the_token() -> None:
    found = client().get("/a-token/")
    assert (found.status_code, found.text) == (200, "<p>here</p>")
    assert found.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/other/", "/a-tokem/", "/a-token/more", "/a-token%00/", "/é/"])
def test_nothing_without_it(path: str) -> None:
    assert client().get(path).status_code == 404


def test_another_host_name_is_refused() -> None:
    assert client("evil.example").get("/a-token/").status_code == 400


def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="take another one"):
            serve("", port=taken.getsockname()[1], open_browser=False, say=print)
