"""A page plays a model in Chromium: buttons, keys, downloads, and the same bits as here."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tocsin import Simulation
from tocsin.cli._subject import find_subject
from tocsin.errors import InputError
from tocsin.export.marks import Arcs, Cells, Motion, Points, Ticks, View
from tocsin.models.extrusion.preset import VIEW, WORLD
from tocsin.view import page_of
from tocsin.view._frames import Frames

BROWSER = shutil.which("chromium")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: apt-get install chromium")


def simulation() -> Simulation:
    subject = find_subject("extrusion")
    return Simulation(subject.model, subject.world, seed=2**63 + 5)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page_of(simulation(), VIEW, title="a <title>", about="& more"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser, made: Path):
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(30_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.goto(made.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    yield page
    page.close()
    assert not wrong


def wait(page, condition: str) -> None:
    """Wait until an expression holds (the page's policy forbids it to evaluate text itself)."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{condition} never held; the page says {page.inner_text('#note')!r}")


def events(page) -> int:
    wait(page, "document.body.dataset.events !== undefined")
    return int(page.evaluate("document.body.dataset.events"))


def test_a_page_is_small_names_itself_and_asks_for_nothing(made: Path) -> None:
    text = made.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert "a &lt;title&gt;" in text
    assert re.search(r"default-src 'none'", text)
    assert not re.search(r"(src|href)=[\"']http", text)


@needs_browser
def test_a_title_that_looks_like_a_place_of_the_page_stays_text() -> None:
    """What stands in a title or a description is text, even where it names a part of the page."""
    made = page_of(simulation(), VIEW, title="{{data}}", about="{{scripts}} {{style}}")
    assert "<title>{{data}} · Tocsin</title>" in made
    config = re.search(r'id="config">(.*?)</script>', made, re.DOTALL)
    assert config is not None
    assert json.loads(config[1])["about"] == "{{scripts}} {{style}}"


def test_play_pause_step_and_keys(page) -> None:
    assert page.inner_text("#title") == "a <title>"
    assert events(page) == 0
    page.click("#step")
    wait(page, "document.body.dataset.events === '1'")
    assert re.search(r" at t = \d", page.inner_text("#note"))
    page.click("#play")
    wait(page, "Number(document.body.dataset.events) > 100")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    wait(page, "document.body.dataset.playing === 'false'")
    stood = events(page)
    page.keyboard.press("e")
    wait(page, f"Number(document.body.dataset.events) === {stood + 1}")
    page.keyboard.press("r")
    wait(page, "document.body.dataset.events === '0'")


@needs_browser
def test_the_save_of_a_page_goes_on_here_as_the_same_run(page, tmp_path: Path) -> None:
    native = simulation()
    page.evaluate("send('events', {n: 100000})")
    wait(page, "document.body.dataset.done === '100000'")
    with page.expect_download() as download:
        page.click("#save")
    path = tmp_path / "state.tocsin"
    download.value.save_as(path)
    loaded = Simulation.load(path, native.model)
    native.run(events=100_000)
    assert loaded.seed == native.seed
    assert loaded.state_hash() == native.state_hash()
    loaded.run(events=1_000)
    native.run(events=1_000)
    assert loaded.state_hash() == native.state_hash()


@needs_browser
def test_a_frame_of_a_page_is_that_of_a_native_run(page) -> None:
    """What a page draws, and what this machine would stream, are the same numbers."""
    native = simulation()
    page.evaluate("send('events', {n: 2000})")
    wait(page, "Number(document.body.dataset.events) === 2000")
    shown = page.evaluate("latest.marks.map((m) => Array.from(m.data.slice(0, m.count * m.width)))")
    native.run(events=2000)
    facts, arrays = Frames(native, VIEW).take()
    assert [array.reshape(-1).tolist() for array in arrays] == shown
    assert facts["observables"] == page.evaluate("latest.observables")


@needs_browser
def test_a_damaged_save_of_a_page_is_refused(page, tmp_path: Path) -> None:
    with page.expect_download() as download:
        page.click("#save")
    path = tmp_path / "state.tocsin"
    download.value.save_as(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(InputError):
        Simulation.load(path, simulation().model)


@needs_browser
def test_parameters_seed_series_and_inspector(page, tmp_path: Path) -> None:
    page.fill("#param-0", "-1")
    page.press("#param-0", "Enter")
    wait(page, "document.getElementById('note').className === 'error'")
    assert "must be > 0" in page.inner_text("#note")
    page.fill("#param-0", "4")
    page.press("#param-0", "Enter")
    page.fill("#seed", "minus one")
    page.click("#restart")
    wait(page, "document.getElementById('note').textContent.includes('seed')")
    page.fill("#seed", "77")
    page.click("#restart")
    wait(page, "document.getElementById('note').textContent === ''")
    page.evaluate("send('events', {n: 5000})")
    wait(page, "Number(document.body.dataset.events) === 5000")
    with page.expect_download() as download:
        page.click("#save")
    path = tmp_path / "state.tocsin"
    download.value.save_as(path)
    loaded = Simulation.load(path, simulation().model)
    assert (loaded.seed, loaded.world.rates.step) == (77, 4.0)
    start = find_subject("extrusion").world
    start.rates.step = 4.0
    native = Simulation(loaded.model, start, seed=77)
    native.run(events=5_000)
    assert loaded.state_hash() == native.state_hash()
    page.evaluate("document.getElementById('inspector').open = true")
    page.select_option("#table", "legs")
    page.fill("#row", "1")
    wait(page, "document.getElementById('fields').textContent.includes('site')")
    shown = page.evaluate(
        "[...document.querySelectorAll('#fields dt')].map((d) => [d.textContent, d.nextSibling.textContent])"
    )
    assert int(dict(shown)["site"]) == loaded.world.legs[1].site
    with page.expect_download() as download:
        page.click("#csv")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "time,LoopSize,Captured,Blocked,Occupancy"
    assert len(lines) > 1
    with page.expect_download() as download:
        page.click("#png")
    assert Path(download.value.path()).read_bytes()[:4] == b"\x89PNG"


@needs_browser
def test_a_parameter_changed_on_the_way_changes_the_run(page) -> None:
    page.evaluate("send('events', {n: 2000})")
    wait(page, "Number(document.body.dataset.events) === 2000")
    page.fill("#param-0", "100")
    page.press("#param-0", "Enter")
    before = float(page.inner_text("#clock").split()[2])
    page.evaluate("send('events', {n: 20000})")
    wait(page, "Number(document.body.dataset.events) === 22000")
    after = float(page.inner_text("#clock").split()[2])
    assert (after - before) / 20_000 < before / 2_000 / 2


@needs_browser
def test_without_webassembly_it_says_so(browser, made: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.WebAssembly")
    page.goto(made.as_uri())
    wait(page, "document.getElementById('note').className === 'error'")
    assert "no WebAssembly" in page.inner_text("#note")
    page.close()


@needs_browser
def test_a_damaged_page_says_so(browser, made: Path, tmp_path: Path) -> None:
    """A letter that changed in any part of its data, or an end that is missing: no page stays silent, none runs."""
    text, page = made.read_text(encoding="utf-8"), browser.new_page()
    for k, block in enumerate(("config", "code", "image", "worker")):
        start, end = re.search(rf'id="{block}">(.*?)</script>', text, re.DOTALL).span(1)  # type: ignore[union-attr]
        at = start + (end - start) * (k + 1) // 6
        (tmp_path / "page.html").write_text(
            text[:at] + ("b" if text[at] == "a" else "a") + text[at + 1 :], encoding="utf-8"
        )
        page.goto((tmp_path / "page.html").as_uri())
        assert page.get_attribute("#note", "class") == "error"
        assert "This page is damaged" in page.inner_text("#note")
    (tmp_path / "page.html").write_text(text[: len(text) // 2], encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    assert "the page was cut off" in page.inner_text("#note")
    page.close()


@needs_browser
def test_a_page_plays_in_the_frame_of_a_notebook(browser, tmp_path: Path) -> None:
    widget = simulation().view(height=500)
    assert widget.height == 500
    module = widget._esm.replace("export default", "const widget =")
    text = f"""<body><script>{module}
    const values = {{height: 500, page: {json.dumps(widget.page).replace("<", chr(92) + "u003c")}}};
    widget.render({{model: {{get: (name) => values[name]}}, el: document.body}});</script></body>"""
    path = tmp_path / "notebook.html"
    path.write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready=yes]").wait_for()
    ticks = next(mark for mark in VIEW.marks if isinstance(mark, Ticks))
    assert frame.locator("#legend span").all_inner_texts() == [*VIEW.labels, *ticks.labels]
    frame.locator("#step").click()
    frame.locator("body[data-events='1']").wait_for()
    page.close()


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View((Arcs("lef", "left.site", "right.site"),)), "no table 'lef'. Did you mean 'lefs'"),
        (View((Arcs("lefs", "left.sight", "right.site"),)), "no column of Leg 'sight'. Did you mean 'site'"),
        (View((Arcs("lefs", "left.site.more", "right.site"),)), "site is no reference"),
        (View((Points("legs", "site", "site", motion=Motion("then", velocity=("site",))),)), "no column of Leg 'then'"),
        (View((Cells(array="grid"),)), "no array 'grid'"),
        (View(colours=("red",)), """a colour is "#" and six hexadecimal digits, got 'red'"""),
        (View(line="site"), "no table 'site'. Did you mean 'sites'"),
        (View(box=("rates.stop", "rates.step")), "no scalar or param 'rates.stop'. Did you mean 'rates.step'"),
    ],
)
def test_a_view_that_names_what_is_not_there(view: View, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        page_of(simulation(), view)


def test_a_view_names_only_what_the_model_has() -> None:
    """Every path of every shipped view leads to a column."""
    from tocsin.scenario._registry import shipped

    seen = 0
    for preset in shipped():
        schema = preset.model.schema
        for mark in (preset.view or View()).marks:
            given = json.loads(json.dumps(mark.__dict__, default=lambda o: o.__dict__))
            paths = [given.get(k) for k in ("start", "end", "x", "y", "colour", "value", "radius")]
            motion = given.get("motion") or {}
            paths += [motion.get("since"), motion.get("pace"), *motion.get("goal", ()), *motion.get("velocity", ())]
            for path in filter(None, paths):
                if not given.get("table"):
                    continue
                entity = schema.tables()[given["table"]]
                *heads, last = path.split(".")
                for head in heads:
                    entity = schema.entity(entity.fields[head].target)
                assert last in entity.fields, (preset.name, path)
                seen += 1
    assert seen > 10
    assert WORLD.view is VIEW
