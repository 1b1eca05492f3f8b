"""What XML has to pass before a library with its own parser sees it."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from tocsin.errors import InputError

MOST_BYTES = 64 << 20
MOST_DEPTH, MOST_TERMS = 200, 10_000


def checked_xml(text: str) -> None:
    """Refuse XML that is malformed, huge, deeply nested, or declares a document type or entities.

    Raises InputError with line and column.
    """
    if len(text) > MOST_BYTES:
        raise InputError(f"the XML has {len(text):,} characters; {MOST_BYTES:,} are read at most")
    parser = expat.ParserCreate()
    depth, terms = 0, [0]  # elements that are open, and for each how many it holds so far

    def at() -> str:
        return f"line {parser.CurrentLineNumber}, column {parser.CurrentColumnNumber + 1}"

    def refuse(*_: Any) -> None:
        raise InputError(f"XML, {at()}: a DOCTYPE or an entity is declared, which is refused; take it out")

    def start(name: str, attributes: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise InputError(f"XML, {at()}: <{name}> is nested more than {MOST_DEPTH} deep")
        terms[-1] += 1
        terms.append(0)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if terms.pop() > MOST_TERMS and name.rpartition(":")[2] == "apply":  # libsbml nests them
            raise InputError(f"XML, {at()}: an <apply> of more than {MOST_TERMS:,} terms")

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(text.encode(), True)
    except InputError:  # ours, which is a ValueError too
        raise
    except expat.ExpatError as error:
        raise InputError(
            f"XML, line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}"
        ) from None
    except (UnicodeError, ValueError, LookupError) as error:
        raise InputError(f"XML: {error}") from None
