"""Each page of the gallery is played in Chromium as a visitor would: buttons, sliders, inspector, downloads, reload."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin import Simulation
from tocsin.export._module import with_room
from tocsin.view._page import _usual_room

BROWSER = shutil.which("chromium")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: apt-get install chromium")
FEW = 150
"""Events that are fired here too, to compare."""
QUICK = ("tandem", "wealth")
"""Pages that the default tests play: queues, and agents that tick. `test_page.py` plays loop extrusion."""


def _gallery() -> Any:
    path = Path(__file__).parents[2] / "scripts" / "gallery"
    loader = importlib.machinery.SourceFileLoader("gallery", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))  # type: ignore[arg-type]
    loader.exec_module(module)
    return module


GALLERY = _gallery()
NAMES = [name for name, _, _ in GALLERY.starts()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


class Visitor:
    """One page, and what is done with it."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.page = browser.new_page(viewport={"width": 1100, "height": 800}, accept_downloads=True)
        self.page.set_default_timeout(30_000)
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("request", lambda r: self.wrong.append(r.url) if r.url.startswith("http") else None)
        self.page.goto(path.as_uri())
        self.is_ready()

    def is_ready(self) -> None:
        self.page.wait_for_selector("body[data-ready=yes]")
        self.until("document.body.dataset.events !== undefined")

    def until(self, condition: str) -> None:
        """Wait until an expression holds."""
        for _ in range(1200):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(
            f"{condition} never held; the page says {self.note!r} and {self.page.inner_text('#clock')!r}"
        )

    @property
    def note(self) -> str:
        return str(self.page.inner_text("#note"))

    @property
    def events(self) -> int:
        return int(self.page.evaluate("document.body.dataset.events"))

    @property
    def now(self) -> float:
        return float(self.page.evaluate("latest.now"))

    def is_well(self) -> None:
        assert self.page.get_attribute("#note", "class") != "error", self.note
        assert self.wrong == []

    def fire(self, n: int) -> None:
        """Fire so many events; fewer if no clock is left."""
        self.page.evaluate(f"delete document.body.dataset.done; send('events', {{n: {n}}})")
        self.until("document.body.dataset.done === document.body.dataset.events")

    def pause(self) -> None:
        """Press pause, unless the run has ended, and wait for the last frame."""
        self.page.evaluate("if (playing) document.getElementById('play').click()")
        self.until("!playing && !latest.playing")

    def restart(self) -> None:
        self.page.click("#restart")
        self.until("document.body.dataset.events === '0'")

    def downloaded(self, button: str) -> bytes:
        with self.page.expect_download() as download:
            self.page.click(button)
        return Path(download.value.path()).read_bytes()

    def fields(self) -> dict[str, str]:
        return dict(
            self.page.evaluate(
                "[...document.querySelectorAll('#fields dt')].map((d) => [d.textContent, d.nextSibling.textContent])"
            )
        )


@needs_browser
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES])
def test_a_visitor_plays_the_page(browser: Any, name: str, tmp_path: Path) -> None:
    """Play, pause, step, speed, parameters, inspector, downloads, restart and reload do what they say, without an error."""
    shown = GALLERY.start(name)
    (tmp_path / "page.html").write_text(shown.page(), encoding="utf-8")
    visitor = Visitor(browser, tmp_path / "page.html")
    try:
        plays(visitor, shown.simulation, tmp_path)
    finally:
        visitor.page.close()


def plays(visitor: Visitor, simulation: Simulation[Any], folder: Path) -> None:
    """Do all that one can do with a page."""
    steps_and_pauses(visitor)
    runs_to_a_time(visitor)
    changes_speed(visitor)
    inspects(visitor)
    downloads(visitor, folder, simulation)
    first = comes_back_at_the_same_seed(visitor)
    is_the_run_of_this_machine(first, simulation, folder)
    changes_parameters(visitor, folder, simulation)
    visitor.page.reload()
    visitor.is_ready()
    assert visitor.events == 0
    visitor.fire(FEW)
    assert visitor.downloaded("#save") == first
    visitor.is_well()


def steps_and_pauses(visitor: Visitor) -> None:
    """A step is one event; play goes on; a pause stands still; something is drawn."""
    page = visitor.page
    assert visitor.events == 0
    page.click("#step")
    visitor.until("document.body.dataset.events === '1'")
    assert " at t = " in visitor.note
    page.click("#play")
    visitor.until("Number(document.body.dataset.events) > 3")
    visitor.pause()
    stood = visitor.events
    page.wait_for_timeout(200)
    assert visitor.events == stood
    page.click("#step")
    visitor.until(
        f"document.body.dataset.events === '{stood + 1}' || document.getElementById('note').textContent.startsWith('No clock')"
    )
    if page.is_visible("#canvas"):
        assert _colours(page.locator("#canvas").screenshot()) > 2, "the picture is blank"


def _colours(picture: bytes) -> int:
    from PIL import Image

    return len(Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 24) or [])


def runs_to_a_time(visitor: Visitor) -> None:
    """*Run to* stops at the very time that was asked for."""
    time = round(visitor.now + 0.2 * float(visitor.page.evaluate("config.speed")), 6)
    visitor.page.fill("#until", repr(time))
    visitor.page.click("#go")
    visitor.until(
        f"(latest.now === {time} && !playing) || document.getElementById('note').textContent.startsWith('No clock')"
    )
    visitor.is_well()


def changes_speed(visitor: Visitor) -> None:
    """The speed's slider says what it is set to, and the run obeys: slowly, and as fast as it gets."""
    page = visitor.page
    page.fill("#speed", "-4")
    assert page.inner_text("#speed-value") == "0.0001 time units/s"
    before = visitor.now
    page.click("#play")
    page.wait_for_timeout(300)
    slow = visitor.now - before
    page.fill("#speed", "8")
    assert slow < 0.0001 * 20
    assert page.inner_text("#speed-value") == "as fast as it gets"
    visitor.until(f"latest.now > {before + 0.01} || !playing")
    visitor.pause()
    visitor.is_well()


def inspects(visitor: Visitor) -> None:
    """The inspector shows a row of every table; a click on the picture opens what lies there."""
    page = visitor.page
    if not page.evaluate("Object.keys(config.tables).length"):
        assert not page.is_visible("#inspector")
        return
    page.evaluate("document.getElementById('inspector').open = true")
    for table in page.evaluate("Object.keys(config.tables)"):
        fields = page.evaluate(f"Object.keys(config.tables[{table!r}].fields)")
        page.select_option("#table", table)
        page.fill("#row", "0")
        visitor.until(
            f"{fields!r}.every((f) => document.getElementById('fields').textContent.includes(f)) || document.getElementById('fields').textContent.includes('no such row')"
        )
    visitor.page.fill("#row", "999999999")
    visitor.until("document.getElementById('fields').textContent.includes('no such row')")
    spot = page.evaluate(
        """(() => {
            const { clientWidth: w, clientHeight: h } = document.getElementById("canvas");
            for (let k = 0; k < 4000; k++) {  // places all over the picture, those in its middle first
                const r = Math.sqrt(k / 4000) * 0.49, [x, y] = [w * (0.5 + r * Math.cos(k)), h * (0.5 + r * Math.sin(k))];
                if ([-3, 0, 3].every((d) => picture.at(x + d, y + d) && picture.at(x - d, y + d))) return [x, y];
            }
            return null;
        })()"""
    )
    if spot is not None:
        page.evaluate("document.getElementById('inspector').open = false")
        page.evaluate(
            f"window.scrollBy(0, document.getElementById('canvas').getBoundingClientRect().top + {spot[1]} - 400)"
        )
        page.locator("#canvas").click(position={"x": spot[0], "y": spot[1]}, force=True)
        visitor.until(
            "document.getElementById('inspector').open && !document.getElementById('fields').textContent.includes('no such row')"
        )
        assert len(visitor.fields()) > 0
    visitor.is_well()


def downloads(visitor: Visitor, folder: Path, simulation: Simulation[Any]) -> None:
    """The state goes on here; the series and the picture are what they claim to be."""
    path = folder / "played"
    path.write_bytes(visitor.downloaded("#save"))
    loaded = Simulation.load(path, simulation.model)
    assert (loaded.n_events, loaded.now) == (visitor.events, visitor.now)
    names, *rows = visitor.downloaded("#csv").decode().splitlines()
    assert names.split(",") == ["time", *visitor.page.evaluate("CHARTS.map((c) => c.name)")]
    assert rows
    assert all(len(row.split(",")) == len(names.split(",")) for row in rows)
    times = [float(row.split(",")[0]) for row in rows]
    assert times == sorted(times)
    assert visitor.downloaded("#png")[:8] == b"\x89PNG\r\n\x1a\n"


def comes_back_at_the_same_seed(visitor: Visitor) -> bytes:
    """After a restart at the same seed the run is the same: as many events lead to the same bytes."""
    visitor.restart()
    visitor.fire(FEW)
    first = visitor.downloaded("#save")
    visitor.page.fill("#speed", "2")
    visitor.page.click("#play")
    visitor.page.wait_for_timeout(200)
    visitor.pause()
    visitor.restart()
    visitor.fire(FEW)
    assert visitor.downloaded("#save") == first
    return first


def is_the_run_of_this_machine(saved: bytes, simulation: Simulation[Any], folder: Path) -> None:
    """What the page has saved loads, in the state in which the same events leave this machine."""
    (folder / "state").write_bytes(saved)
    loaded = Simulation.load(folder / "state", simulation.model)
    native = with_room(simulation, _usual_room(simulation))  # spare room is part of the hash
    native.run(events=loaded.n_events)
    assert loaded.n_events > 0
    assert loaded.state_hash() == native.state_hash()


def changes_parameters(visitor: Visitor, folder: Path, simulation: Simulation[Any]) -> None:
    """Every slider moves its parameter, in the run as it goes; a restart keeps it; a value out of range is refused."""
    page = visitor.page
    moved: dict[tuple[str, str], float] = {}
    for k, spec in enumerate(page.evaluate("config.params")):
        slider, box = page.locator(f"#param-{k} ~ input[type=range]"), page.locator(f"#param-{k}")
        if not slider.count():
            continue
        slider.fill("0.03" if spec["kind"] == "float" else "0.52")
        moved[spec["block"], spec["name"]] = float(box.input_value())
        visitor.is_well()
        if spec["gt"] is not None or spec["ge"] is not None:
            kept = box.input_value()
            box.fill("-1e9")
            box.press("Enter")
            visitor.until("document.getElementById('note').className === 'error'")
            assert "cannot be" in visitor.note
            box.fill(kept)
            box.press("Enter")
            visitor.is_well()
    visitor.fire(FEW)
    visitor.restart()
    visitor.fire(FEW)
    visitor.is_well()
    path = folder / "moved"
    path.write_bytes(visitor.downloaded("#save"))
    world = Simulation.load(path, simulation.model).world
    for (block, name), value in moved.items():
        assert math.isclose(getattr(getattr(world, block), name), value, rel_tol=1e-12)
