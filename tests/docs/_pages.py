"""Markdown pages as tests: take the blocks out of a page, run them in order, compare what they print.

A `python` block runs in the page's one namespace, at its own line of a file that is the page, so
that a traceback names the line of the page. A `console` block runs its `$ tocsin ...` lines in this
process; other commands are not run. A block such as `toml mine.toml` is a file, written before
anything runs. A `text` block right after a `python` block is what that block prints. In what is
printed, `...` stands for anything, and runs of blanks are alike. `python needs=polars` is left out
where polars is not installed.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from typer.testing import CliRunner

from tocsin.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")])
_FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.M | re.S)
_ANNOTATIONS = annotations.compiler_flag
_COMPILING = re.compile(r"^compiling the model .*\n", re.M)
"""What is said once, where the machine code is not kept yet."""
_ALIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block of a page; `line` counts from 1 and is that of its first line of text."""

    language: str
    words: tuple[str, ...]
    text: str
    line: int
    is_adjacent: bool
    """Whether nothing but blank lines is between the block before and this one."""


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found, end = [], 0
    for match in _FENCE.finditer(page):
        language, *words = match[1].split() or [""]
        line = page.count("\n", 0, match.start(2)) + 1
        is_adjacent = bool(found) and not page[end : match.start()].strip()
        found.append(Block(language, tuple(words), match[2], line, is_adjacent))
        end = match.end()
    return found


class Page:
    """A page that is run in the current folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blocks = blocks_of(path.read_text(encoding="utf-8"))
        self.module = ModuleType("page_" + re.sub(r"\W", "_", path.stem))
        self._flags = 0

    def run(self) -> None:
        """Run every block in order. Raises AssertionError where it prints something else."""
        self._write_files()
        sys.modules[self.module.__name__] = self.module
        try:
            for n, block in enumerate(self.blocks):
                if block.language == "python" and all(map(_is_installed, block.words)):
                    self._python(block, self._stated(n + 1))
                elif block.language == "console":
                    self._console(block)
        finally:
            del sys.modules[self.module.__name__]

    def _stated(self, n: int) -> str | None:
        """Return what the page says that the block before block `n` prints, if it does."""
        block = self.blocks[n] if n < len(self.blocks) else None
        return block.text if block is not None and block.language == "text" and block.is_adjacent else None

    def _write_files(self) -> None:
        source = Path(f"{self.module.__name__}.py").absolute()
        lines = self.path.read_text(encoding="utf-8").splitlines()
        kept = {n for b in self.blocks if b.language == "python" for n in _lines(b)}
        source.write_text("".join(f"{text if n in kept else ''}\n" for n, text in enumerate(lines, 1)))
        self.module.__file__ = str(source)
        for block in self.blocks:
            if block.words and "=" not in block.words[0]:
                Path(block.words[0]).write_text(block.text, encoding="utf-8")

    def _python(self, block: Block, wanted: str | None) -> None:
        if "from __future__ import annotations" in block.text:
            self._flags |= _ANNOTATIONS
        padded = "\n" * (block.line - 1) + block.text
        code = compile(padded, str(self.module.__file__), "exec", self._flags, dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.module.__dict__)
        if wanted is not None:
            self._compare(block, wanted, printed.getvalue())

    def _console(self, block: Block) -> None:
        """Run each `$ tocsin` line; what follows it, up to the next, is what it prints."""
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, wanted = part.replace("\\\n", " ").partition("\n")
            name, *arguments = shlex.split(command, comments=True)
            if name != "tocsin":
                continue
            result = CliRunner().invoke(app, arguments, prog_name="tocsin", catch_exceptions=False)
            is_refused = wanted.startswith("tocsin: ")
            assert (result.exit_code != 0) == is_refused, f"{self._at(block)}: {command}\n{result.output}"
            if wanted.strip():
                self._compare(block, wanted, _COMPILING.sub("", result.output))

    def _compare(self, block: Block, wanted: str, got: str) -> None:
        if not doctest.OutputChecker().check_output(wanted, got, _ALIKE):
            raise AssertionError(f"{self._at(block)} prints\n{got}\nand not\n{wanted}")

    def _at(self, block: Block) -> str:
        return f"{self.path.relative_to(ROOT)}, line {block.line}"


def _lines(block: Block) -> range:
    return range(block.line, block.line + block.text.count("\n"))


def _is_installed(word: str) -> bool:
    key, _, names = word.partition("=")
    return key != "needs" or all(importlib.util.find_spec(name) for name in names.split(","))
