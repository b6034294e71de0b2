"""The canonical form of a panel, and its digest, which ties results to the panel they were made from.

docs/reference/result-json.md defines the form, so that any program can compute the digest.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from coherently import _core
from coherently.events import PackedTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.arrays import Indices, Vector
    from coherently.panel.panel import Panel

FORMAT, VERSION = "coherently-panel", 1
ROWS = 50_000
"""Number of forecasts that are written at a time."""


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
    found.update(canonical_text(panel))
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
    head = _encoded(_json({"format": FORMAT, "version": VERSION, "plain_events": is_plain(panel)}) + "\n")
    laws = sorted(_encoded(_json({"law": text}) + "\n") for text in panel.laws.statements())
    judges = _packed(f'{{"judge":{_json(_normal(name))},"event":"' for name in panel.judges)
    events = _escaped(panel.written.text)
    blocks = (_rows(panel, judges, events, slice(start, start + ROWS)) for start in range(0, len(panel), ROWS))
    rows = sorted(line for block in blocks for line in block.splitlines(keepends=True))
    return b"".join([head, *laws, *rows])


def is_plain(panel: Panel) -> bool:
    """Whether each event is a plain variable with that text as its name, so that texts need not be formulas."""
    starts, variables = panel.events.supports(panel.written.event // 2)
    if (np.diff(starts) != 1).any() or (panel.written.event % 2).any() or (panel.written.condition != 1).any():
        return False
    if np.isin(variables, [atom for choice in panel.events.choices() for atom in choice.atoms.tolist()]).any():
        return False
    names = panel.events.variables
    return all(names[v] == _normal(text) for v, text in zip(variables.tolist(), panel.written.text, strict=True))


def _rows(panel: Panel, judges: PackedTexts, events: PackedTexts, some: slice) -> bytes:
    """The lines of some forecasts, put together from columns of pieces, without a loop over them."""
    own = events.pick(panel.event_index[some])
    columns = [(judges, panel.judge_index[some]), (own, np.arange(len(own)))]
    for name, before in (("probability", '",'), ("weight", ","), ("lower", ","), ("upper", ",")):
        values = getattr(panel, name)
        if values is not None:
            columns += _column(f'{before}"{name}":', values[some])
    columns.append((_packed(["}\n"]), np.zeros(len(own), np.int64)))
    texts = [texts for texts, _ in columns]
    offsets = np.append(0, np.cumsum(np.concatenate([np.diff(one.offsets) for one in texts])))
    begins = np.cumsum([0, *map(len, texts)])
    index = np.stack([index + begin for (_, index), begin in zip(columns, begins[:-1], strict=True)], axis=1)
    return PackedTexts(offsets, np.concatenate([one.data for one in texts])).pick(index.ravel()).data.tobytes()


def _column(label: str, values: Vector) -> list[tuple[PackedTexts, Indices]]:
    """Numbers after their label: pieces, and which of them each row has; text 0 stands for no number."""
    known = ~np.isnan(values)
    if known.all() and (values == values[0]).all():
        return [(_packed([f"{label}{float(values[0]) + 0.0!r}"]), np.zeros(len(values), np.int64))]
    return [
        (_packed(["", label]), known.astype(np.int64)),
        (_numbers(values[known]), np.where(known, np.cumsum(known), 0)),
    ]


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
    special = (packed.data < 0x20) | (packed.data == ord('"')) | (packed.data == ord("\\"))
    if packed.is_ascii() and not special.any():
        return packed
    return _packed(_json(_normal(text))[1:-1] for text in texts)


def _packed(texts: Iterable[str]) -> PackedTexts:
    encoded = [_encoded(text) for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
    return PackedTexts(offsets.astype(np.int64), np.frombuffer(b"".join(encoded), np.uint8))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)
