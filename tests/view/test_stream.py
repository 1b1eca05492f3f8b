"""A page that shows a run of this machine: the same page, the same bits, and for nobody else."""

from __future__ import annotations

import json
import shutil
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tocsin import Simulation
from tocsin.cli._subject import find_subject
from tocsin.models.extrusion.preset import VIEW
from tocsin.view._live import Live, packed
from tocsin.view._page import remote_page_of
from tocsin.view._server import application

BROWSER = shutil.which("chromium")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: apt-get install chromium")


def simulation() -> Simulation[Any]:
    subject = find_subject("extrusion")
    return Simulation(subject.model, subject.world, seed=5)


def live() -> Live:
    return Live(simulation(), VIEW, 1.0)


def opened(data: bytes) -> dict[str, Any]:
    """Return the facts of a message."""
    (size,) = struct.unpack_from("<I", data)
    found: dict[str, Any] = json.loads(data[4 : 4 + size])
    assert len(data) - 4 - size in (4 * sum(found["sizes"]), sum(found["sizes"]))
    return found


def said(player: Live, **message: Any) -> list[dict[str, Any]]:
    return [opened(reply) for reply in player.answer(message)]


def test_a_message_carries_facts_and_arrays() -> None:
    """What JSON lacks is null; the arrays stand at a multiple of four."""
    found = opened(packed({"kind": "x", "now": float("nan"), "far": [float("inf")]}, [b"1234"]))
    assert (found["now"], found["far"], found["sizes"]) == (None, [None], [4])


def test_a_page_steers_the_run() -> None:
    """Steps, events, frames, parameters, restarts and saves, as the browser's worker does them."""
    player, native = live(), simulation()
    assert said(player, kind="begin")[0]["kind"] == "ready"
    assert " at t = " in said(player, kind="step")[0]["message"]
    assert said(player, kind="events", n=999)[0]["nEvents"] == 1000
    native.run(events=1000)
    assert player.simulation.state_hash() == native.state_hash()
    (frame,) = said(player, kind="frame")
    assert (frame["nEvents"], frame["now"]) == (1000, native.now)
    assert frame["marks"][0]["count"] == len(native.world.lefs)
    said(player, kind="parameter", index=0, value=4.0)
    assert said(player, kind="restart", seed="9")[0]["seed"] == "9"
    said(player, kind="events", n=500)
    other = find_subject("extrusion").world
    other.rates.step = 4.0
    again = Simulation(native.model, other, seed=9)
    again.run(events=500)
    assert player.simulation.state_hash() == again.state_hash()


def test_a_streamed_run_lists_its_events() -> None:
    """The newest 200 events, those of `Simulation.step`; the run is the one without a list."""
    player, native = live(), simulation()
    said(player, kind="log", on=True)
    first = said(player, kind="step")[0]
    event = native.step()
    assert event is not None
    assert first["events"] == [[event.time, [m.name for m in native.model.actions].index(event.action), event.index]]
    replies = {reply["kind"]: reply for reply in said(player, kind="events", n=9999)}
    native.run(events=9998)
    last = native.step()
    assert last is not None
    assert (len(replies["log"]["events"]), replies["log"]["skipped"]) == (200, 9799)
    assert replies["log"]["events"][-1][0] == last.time
    assert player.simulation.state_hash() == native.state_hash()
    said(player, kind="log", on=False)
    assert [reply["kind"] for reply in said(player, kind="events", n=10)] == ["done"]


def test_playing_keeps_its_speed_and_stops_where_it_was_told() -> None:
    """Half a second at ten time units a second is about five; `until` ends exactly there."""
    player = live()
    said(player, kind="speed", value=10.0)
    said(player, kind="play")
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        list(player.played())
    assert 0.5 < player.simulation.now < 10.0
    said(player, kind="speed", value=None)
    said(player, kind="until", time=40.0)
    while player.is_playing:
        list(player.played())
    assert player.simulation.now == 40.0


@pytest.mark.parametrize(
    "message",
    [{}, {"kind": 3}, {"kind": "_fail"}, {"kind": "nothing"}, {"kind": "until"}, {"kind": "inspect", "table": "x", "row": 0},
     {"kind": "parameter", "index": 0, "value": -1.0}, {"kind": "parameter", "index": 99, "value": 1.0},
     {"kind": "restart", "seed": "minus"}, {"kind": "histogram", "table": "legs", "column": "no"}],
)  # fmt: skip
def test_a_message_that_makes_no_sense_is_answered_by_an_error(message: dict[str, Any]) -> None:
    """The run stays as it was."""
    player = live()
    before = player.simulation.state_hash()
    kinds = [opened(reply)["kind"] for reply in player.answer(message)]
    assert kinds == ["error", "state"]
    assert player.simulation.state_hash() == before


def client() -> TestClient:
    return TestClient(application("<p>here</p>", "a-token", live), base_url="http://127.0.0.1")


def test_the_stream_answers_whoever_has_the_token() -> None:
    with client().websocket_connect(
        "ws://127.0.0.1/a-token/stream", headers={"origin": "http://127.0.0.1:80"}
    ) as stream:
        stream.send_text('{"kind": "begin"}')
        assert opened(stream.receive_bytes())["kind"] == "ready"
        stream.send_text("no message")  # it ends there
        with pytest.raises(WebSocketDisconnect):
            stream.receive_bytes()


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/other/stream", {"origin": "http://127.0.0.1"}), ("/a-token/stream", {"origin": "http://evil.example"}),
     ("/a-token/stream", {}), ("/a-token/stream", {"origin": "http://127.0.0.1", "host": "evil.example"})],
)  # fmt: skip
def test_and_nobody_else(path: str, headers: dict[str, str]) -> None:
    with pytest.raises(Exception), client().websocket_connect(f"ws://127.0.0.1{path}", headers=headers):  # noqa: B017
        pass


@pytest.fixture
def address() -> Iterator[str]:
    """A server of the page, in a thread."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = application(remote_page_of(simulation(), VIEW), "a-token", live)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/a-token/"
    server.should_exit = True
    thread.join(10)


@needs_browser
def test_a_browser_plays_what_runs_here(address: str, tmp_path: Path) -> None:
    """Step, play, pause, inspect, save: the state is that of a native run; when the server ends the page says so."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(30_000)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        page.wait_for_selector("body[data-ready=yes]")
        page.click("#step")
        page.wait_for_selector("body[data-events='1']")
        page.click("#play")
        page.wait_for_selector("body[data-playing=true]")
        page.click("#play")
        page.wait_for_selector("body[data-playing=false]")
        page.evaluate("send('events', {n: 2000})")
        page.wait_for_selector("body[data-done]")
        with page.expect_download() as download:
            page.click("#save")
        path = tmp_path / "state.tocsin"
        download.value.save_as(path)
        loaded = Simulation.load(path, simulation().model)
        native = simulation()
        native.run(events=loaded.n_events)
        native.run(until=loaded.now)
        assert loaded.n_events > 2000
        assert loaded.state_hash() == native.state_hash()
        browser.close()
    assert not wrong
