"""The page: plain HTML with its pictures inside, which fetches nothing and runs nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from tocsin.experiment.report._drawing import Picture

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;padding:0 1rem;max-width:1180px;color:#222;background:#fff}"
    "h1{margin-bottom:.2rem}h2{margin-top:2rem;border-bottom:2px solid #0b6e99}nav a{margin-right:1rem}"
    "table{border-collapse:collapse;font-size:13px;margin:.6rem 0}.wide{overflow-x:auto}"
    "td,th{padding:.15rem .7rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}"
    "td.text,th.text{text-align:left;white-space:normal}section{display:flex;flex-wrap:wrap;gap:1rem}"
    "figure{margin:0;max-width:100%}img{max-width:100%;height:auto}figcaption{font-size:12px;color:#555;max-width:30rem}"
    "pre{background:#f4f6f7;padding:.8rem;overflow-x:auto;font-size:12px}.bad{color:#b23a48}"
    "@media print{nav{display:none}}"
)

BAD = ' class="bad"'


def page(title: str, subtitle: str, parts: Sequence[tuple[str, str]]) -> str:
    """Return a page of titled parts.

    Its policy allows its own style sheet and pictures that are inside it; no script, no address, no form.
    """
    allowed = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; img-src data:; base-uri 'none'; form-action 'none'"
    links = "".join(f'<a href="#part-{n}">{escape(name)}</a>' for n, (name, _) in enumerate(parts))
    body = "".join(f'<h2 id="part-{n}">{escape(name)}</h2>{content}' for n, (name, content) in enumerate(parts))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1><p>{escape(subtitle)}</p><nav>{links}</nav>{body}</body></html>\n"
    )


def pictures(found: Iterable[Picture]) -> str:
    """Return pictures side by side."""
    shown = []
    for picture in found:
        data = base64.b64encode(picture.svg()).decode()
        caption = escape(picture.caption)
        shown.append(
            f'<figure><img alt="{escape(picture.caption, quote=True)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return f"<section>{''.join(shown)}</section>"


def table(rows: Sequence[Sequence[Any]], head: Sequence[str]) -> str:
    """Return a table; columns whose values are all numbers are to the right."""
    is_text = [any(isinstance(row[k], str) for row in rows) for k in range(len(head))]
    classes = [' class="text"' if text else "" for text in is_text]
    cells = "".join(f"<th{c}>{escape(name)}</th>" for c, name in zip(classes, head, strict=True))
    lines = [
        "<tr>" + "".join(f"<td{c}>{escape(number(v))}</td>" for c, v in zip(classes, row, strict=True)) + "</tr>"
        for row in rows
    ]
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def note(text: str, is_bad: bool = False) -> str:
    """Return a paragraph."""
    return f"<p{BAD if is_bad else ''}>{escape(text)}</p>"


def verbatim(text: str) -> str:
    """Return text as it is."""
    return f"<pre>{escape(text)}</pre>"


def number(value: Any) -> str:
    """Return a value as people read it; - for none."""
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.5g}"
    return str(value)
