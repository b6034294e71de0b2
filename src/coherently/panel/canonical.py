"""The canonical form of a panel, and its digest, which ties results to the panel they were made from.

docs/reference/result-json.md defines the form, so that any program can compute the digest.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently import _core
from coherently.events import PackedTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from coherently.arrays import Vector
    from coherently.panel.panel import Panel

FORMAT, VERSION = "coherently-panel", 1
ROWS, FEW = 10_000, 2000
"""Number of forecasts that are written at a time, and of those of which the numbers are compared first."""

_Column: TypeAlias = "tuple[PackedTexts, NDArray[np.int64]]"
"""Pieces of rows, and which of them each row has."""


def digest(panel: Panel) -> str | None:
    """SHA-256 of the canonical form, in hexadecimal digits; None for a panel that has means in place of forecasts.

    >>> from coherently.panel import Panel
    >>> one = Panel.from_records([("Ann", "p & q", 0.25)], laws=["p -> q  # always"])
    >>> digest(one) == digest(Panel.from_records([("Ann", "p & q", 0.25, 1.0)], laws=["p -> q"]))
    True
    >>> digest(one) == digest(Panel.from_records([("Ann", "p & q", 0.25, 2.0)], laws=["p -> q"]))
    False
    """
    if panel.reduced:
        return None
    found = hashlib.sha256()
    for part in _parts(panel):
        found.update(part)
    return found.hexdigest()


def canonical_text(panel: Panel) -> bytes:
    r"""The canonical form: lines for laws and forecasts, each kind sorted, so that the order of a table does not count.

    >>> from coherently.panel import Panel
    >>> panel = Panel.from_records([("Ann", "p & q", 0.25)], laws=["p -> q"])
    >>> print(canonical_text(panel).decode(), end="")
    {"format":"coherently-panel","version":1,"plain_events":false}
    {"law":"p -> q"}
    {"judge":"Ann","event":"p & q","probability":0.25,"weight":1.0}
    """
    return b"".join(_parts(panel))


def _parts(panel: Panel) -> Iterator[bytes | memoryview]:
    """The canonical form in pieces, one after the other."""
    yield _encoded(_json({"format": FORMAT, "version": VERSION, "plain_events": is_plain(panel)}) + "\n")
    yield from sorted(_encoded(f'{{"law":{_json(text)}}}\n') for text in panel.laws.statements())
    judges = _packed(f'{{"judge":{_json(_normal(name))},"event":"' for name in panel.judges)
    events, order = _escaped(panel.written.text), _order(panel)
    rows = np.arange(len(panel)) if order is None else order
    blocks = (_rows(panel, judges, events, rows[start : start + ROWS]) for start in range(0, len(rows), ROWS))
    if order is None:
        yield from sorted(line for block in blocks for line in block.tobytes().splitlines(keepends=True))
    else:
        yield from (block.data for block in blocks)


def _order(panel: Panel) -> NDArray[np.int64] | None:
    """The forecasts in the order of their lines; None if several numbers of forecasts of one event by one judge differ.

    Lines have the judge first, then the event, then the probability.
    """
    judge, event = line_ranks(panel.judges), line_ranks(panel.written.text)
    key = judge[panel.judge_index] * len(event) + event[panel.event_index]
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) > 0).all():
        return order
    if panel.lower is not None or panel.upper is not None or (panel.weight != panel.weight[0]).any():
        return None
    values, place = np.unique(panel.probability, return_inverse=True)
    number = line_ranks(list(_numbers(values))[1:], after=",")
    return np.argsort(key * len(values) + number[place])


def line_ranks(texts: Sequence[str], after: str = '"') -> NDArray[np.int64]:
    """The place of each text in the order of lines, where this character comes after it; equal texts have one place."""
    if isinstance(texts, PackedTexts) and _stay(texts):
        written = [text + after for text in texts]
    else:
        written = [_json(_normal(text))[1:-1] + after for text in texts]
    place = {text: i for i, text in enumerate(sorted(set(written)))}
    return np.array([place[text] for text in written], np.int64)


def is_plain(panel: Panel) -> bool:
    """Whether each event is a plain variable with that text as its name, so that texts need not be formulas."""
    starts, variables = panel.events.supports(panel.written.event // 2)
    if (np.diff(starts) != 1).any() or (panel.written.event % 2).any() or (panel.written.condition != 1).any():
        return False
    if np.isin(variables, [atom for choice in panel.events.choices() for atom in choice.atoms.tolist()]).any():
        return False
    names = panel.events.variables
    return all(names[v] == _normal(text) for v, text in zip(variables.tolist(), panel.written.text, strict=True))


def _rows(panel: Panel, judges: PackedTexts, events: PackedTexts, some: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The lines of some forecasts, put together from columns of pieces, without a loop over them."""
    own, index = events, panel.event_index[some].astype(np.int64)
    if len(own) > len(some):
        own, index = events.pick(index), np.arange(len(some))
    columns: list[_Column] = [(judges, panel.judge_index[some].astype(np.int64)), (own, index)]
    fixed = ""  # what comes next in each row
    for name, before in (("probability", '",'), ("weight", ","), ("lower", ","), ("upper", ",")):
        if (every := getattr(panel, name)) is None:
            continue
        values, label = every[some], f'{before}"{name}":'
        known = ~np.isnan(values)
        if not known.all():
            place, texts = np.where(known, np.cumsum(known), 0), _numbers(values[known])
            _go_on(columns, fixed)
            columns += [(_packed(["", label]), known.astype(np.int64)), (texts, place)]
            fixed = ""
        elif (values == values[0]).all():
            fixed += f"{label}{float(values[0]) + 0.0!r}"
        else:
            _go_on(columns, fixed + label)
            columns.append(_numbered(values))
            fixed = ""
    _go_on(columns, fixed + "}\n")
    return _joined(columns).data


def _go_on(columns: list[_Column], fixed: str) -> None:
    """Go on with the same text in each row: at the end of the last column's pieces, if they are few."""
    texts, index = columns[-1]
    piece = _packed([fixed])
    if 2 * len(texts) > len(index):
        columns.append((piece, np.zeros(len(index), np.int64)))
    elif fixed:
        every = np.arange(len(texts))
        columns[-1] = _joined([(texts, every), (piece, np.zeros_like(every))]), index


def _joined(columns: Sequence[_Column]) -> PackedTexts:
    """The pieces of each row as one text."""
    texts = [texts for texts, _ in columns]
    offsets = np.append(0, np.cumsum(np.concatenate([np.diff(one.offsets) for one in texts])))
    begins = np.cumsum([0, *map(len, texts)])
    index = np.stack([index + begin for (_, index), begin in zip(columns, begins[:-1], strict=True)], axis=1)
    found = PackedTexts(offsets, np.concatenate([one.data for one in texts])).pick(index.ravel())
    return PackedTexts(found.offsets[:: len(columns)], found.data)


def _numbered(values: Vector) -> _Column:
    """Numbers as pieces: each number once if they seem to be few."""
    if 2 * len(np.unique(values[:FEW])) > min(FEW, len(values)):
        return _numbers(values), np.arange(1, len(values) + 1)
    distinct, place = np.unique(values, return_inverse=True)
    return _numbers(distinct), place + 1


def _numbers(values: Vector) -> PackedTexts:
    """Numbers by the shortest decimals that read back, as Python's `repr` writes them, after one empty text."""
    # Adding 0.0 makes -0.0 the same as 0.0.
    lines = np.frombuffer(_core.csv_rows([values + 0.0], 0, len(values), ","), np.uint8)
    ends = np.flatnonzero(lines == ord("\n"))
    offsets = np.concatenate([[0, 0], ends - np.arange(len(ends))]).astype(np.int64)
    return PackedTexts(offsets, lines[lines != ord("\n")])


def _escaped(texts: Sequence[str]) -> PackedTexts:
    """Texts as JSON writes them between the quotes; most stay as they are."""
    packed = texts if isinstance(texts, PackedTexts) else _packed(texts)
    if _stay(packed):
        return packed
    return _packed(_json(_normal(text))[1:-1] for text in texts)


def _stay(texts: PackedTexts) -> bool:
    """Whether JSON writes texts as they are."""
    special = (texts.data < 0x20) | (texts.data == ord('"')) | (texts.data == ord("\\"))
    return texts.is_ascii() and not special.any()


def _packed(texts: Iterable[str]) -> PackedTexts:
    encoded = [_encoded(text) for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
    return PackedTexts(offsets.astype(np.int64), np.frombuffer(b"".join(encoded), np.uint8))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)
