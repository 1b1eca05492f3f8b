"""Every shipped model, in Chromium: the state after many events is that of this machine, bit for bit."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tocsin import Simulation
from tocsin.cli._subject import find_subject
from tocsin.export._host import WasmHost
from tocsin.export._module import with_room
from tocsin.export.marks import View
from tocsin.models._preset import Preset
from tocsin.scenario._registry import shipped
from tocsin.view import page_of
from tocsin.view._frames import Frames

BROWSER = shutil.which("chromium")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


def in_chromium(browser: Any, simulation: Simulation[Any], view: Any, events: int, folder: Path) -> Simulation[Any]:
    """Return the simulation that a page has saved after so many events; it would draw the same numbers."""
    path = folder / "page.html"
    path.write_text(page_of(simulation, view), encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    page.evaluate(f"send('events', {{n: {events}}})")
    page.wait_for_selector("body[data-done]")
    assert page.get_attribute("#note", "class") != "error", page.inner_text("#note")
    page.wait_for_selector(f"body[data-events='{page.get_attribute('body', 'data-done')}']")
    shown = page.evaluate("latest.marks.map((m) => Array.from(m.data.slice(0, m.count * m.width), String))")
    with page.expect_download() as download:
        page.click("#save")
    saved = Path(download.value.path()).read_bytes()
    page.close()
    (folder / "state").write_bytes(saved)
    found = Simulation.load(folder / "state", simulation.model)
    for mark, array in zip(shown, Frames(found, view or View()).take()[1], strict=True):
        assert np.array_equal(np.array(mark, float), array.reshape(-1), equal_nan=True)
    return found


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("preset", list(shipped()), ids=lambda p: p.name)
def test_native_wasmtime_and_chromium_agree(browser: Any, preset: Preset, tmp_path: Path) -> None:
    """After 100,000 events (or as many as a minute holds of heavy ticks) all three are in one state."""
    subject = find_subject(preset.name)
    n = events_of(subject.model)
    simulation = with_room(Simulation(subject.model, subject.world, seed=2**40 + 11), 20_000)
    host = WasmHost(simulation)
    stop = host.run(events=n)
    found = in_chromium(browser, simulation, preset.view, n, tmp_path)
    assert simulation.run(events=n).stopped == stop
    native = simulation.state_hash()
    assert host.state().state_hash() == native
    assert found.state_hash() == native


def events_of(model: Any) -> int:
    """Return 100,000, but for models that do nothing but tick: an event is a tick of hundreds of rows there."""
    return 2_000 if len(model.systems) == len(model.actions) else 100_000
