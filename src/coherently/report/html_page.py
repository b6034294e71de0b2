"""One self-contained HTML page about a dossier, to share."""

from __future__ import annotations

import math
import secrets
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coherently.errors import MissingDependencyError, PanelError, counted
from coherently.note_log import notes_unlogged
from coherently.report import drawings, names, sections
from coherently.report.before_after import before_after, page_numbers
from coherently.report.contradicting_judges import who_contradicts
from coherently.report.event_titles import EventTitles
from coherently.report.given_answers import given_answers, judge_counts
from coherently.report.headline import (
    boxed_numbers,
    first_sentence,
    headline_number,
    hinge_of,
    hinge_sentence,
    range_sentences,
)
from coherently.report.levers import levers
from coherently.report.move_reasons import left_out, move_reasons
from coherently.report.summary_sentences import answers_sentence, law_sentences, method_sentences, proof_sentence
from coherently.report.verification_code import panel_code, verifying_code
from coherently.solve import Coherence

if TYPE_CHECKING:
    import os

    from coherently.panel import Panel
    from coherently.report.before_after import PageNumbers
    from coherently.report.contradicting_judges import WhoContradicts
    from coherently.report.dossier import Dossier

ENDINGS = (".html", ".htm")
KINDS = {Coherence.GLOBAL: "coherent", Coherence.LOCAL: "locally coherent", Coherence.NONE: "pooled"}
"""What forecasts are called, by how far they are coherent."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page comes from: the name of the panel's file, and when the page was made; both may be unknown.

    `title` is that of the page, and `about` the event that it is about, both by default found in the panel.
    `panel_code` are the lines of Python that make the panel, for those who verify the result, and `command` is the
    command that does so. On an `anonymous` page judges are letters, as they are in the dossier.
    """

    name: str | None = None
    made: str | None = None
    panel_code: str | None = None
    title: str | None = None
    about: str | None = None
    command: str | None = None
    anonymous: bool = False


NOWHERE = Origin()


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that a page cannot be written to, before any work is done for it."""
    path = Path(path)
    if find_spec("jinja2") is None:
        raise MissingDependencyError("a report needs jinja2: pip install jinja2")
    if path.suffix.lower() not in ENDINGS:
        raise PanelError(f"{path} does not have the ending of a report: use {' or '.join(ENDINGS)}")
    if path.is_dir():
        raise PanelError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise PanelError(f"{path.parent} is not a folder: create it first")


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page; an existing file is replaced whole or left alone."""
    check_page_path(path)
    target = Path(path).resolve()
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        draft.write_text(page, "utf-8", newline="\n")
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        raise PanelError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def write_dossier(dossier: Dossier, origin: Origin = NOWHERE) -> str:
    """The page of a dossier: the answer first, then who contradicts what and why numbers moved, then the appendix."""
    with notes_unlogged():
        titles = EventTitles(dossier.panel)
        who = None if dossier.check is None else who_contradicts(dossier.check, titles)
        number = headline_number(dossier.panel, origin.about)
        numbers = None if dossier.result is None else page_numbers(dossier.result, () if number is None else (number,))
        return _render(
            "report.html",
            origin=origin,
            title=origin.title or _title(dossier.panel, origin.name),
            panel=dossier.panel,
            who=who,
            versions=sections.versions(),
            notes=dossier.notes,
            answers=given_answers(dossier.panel, numbers, dossier.check, titles),
            counts=judge_counts(dossier.panel),
            laws=law_sentences(dossier.panel, titles),
            law_total=len(dossier.panel.laws.statements()),
            **_about_answer(_PageMatter(dossier, origin, who, titles), number, numbers),
            **_about_outcomes(dossier),
        )


def _title(panel: Panel, name: str | None) -> str:
    """The title of a page that has none: the name of the file without its ending."""
    words = "" if name is None else Path(name).name.partition(".")[0].replace("_", " ").strip()
    return words[:1].upper() + words[1:] if words else f"Forecasts of {counted(len(panel.judges), 'judge')}"


class _PageMatter(NamedTuple):
    """What all parts of a page draw on."""

    dossier: Dossier
    origin: Origin
    who: WhoContradicts | None
    titles: EventTitles


def _about_answer(matter: _PageMatter, number: int | None, numbers: PageNumbers | None) -> dict[str, Any]:
    """All that hangs on the result; without one there is nothing before and after."""
    dossier, origin, who, titles = matter
    result, panel = dossier.result, dossier.panel
    if result is None or numbers is None:
        closing = (answers_sentence(panel, who, moved=True),)
        return dict.fromkeys(
            ("table", "row", "boxes", "reasons", "left", "levers", "steps", "certificate", "verification", "result")
        ) | {"first": None, "more": closing, "kind": "coherent", "code": "", "rests_on": ()}
    table = before_after(result, numbers, titles)
    row = next((each for each in table.rows if each.number == number and not math.isnan(each.after)), None)
    hinge = None if row is None else hinge_of(result, table.rows, row)
    left = left_out(dossier.without, row, table.digits)
    moved = any(each.moved for each in table.rows)
    verification = dossier.verification
    return {
        "result": result,
        "kind": KINDS[result.coherence],
        "table": table,
        "row": row,
        "headline": "" if row is None else titles.alone(row.event),
        "first": None if row is None else first_sentence(row, titles, table.digits),
        "more": (
            *([] if hinge is None else [hinge_sentence(hinge, titles, table.digits)]),
            *range_sentences(panel, table.groups, table.digits),
            answers_sentence(panel, who, moved=moved),
            proof_sentence(result, moved=moved),
        ),
        "boxes": boxed_numbers(table, row, hinge, titles),
        "reasons": move_reasons(
            result,
            table,
            titles,
            () if who is None or who.averages is None else who.averages.sentences,
            seconds=dossier.seconds,
        ),
        "left": left,
        "levers": ()
        if row is None
        else levers(result, row, hinge, left, rows=table.rows, titles=titles, seconds=dossier.seconds),
        "steps": method_sentences(result),
        "certificate": sections.certificate(result),
        "verification": verification,
        "rests_on": Counter(verification.bound_rests_on if verification is not None else ()).most_common(),
        "code": verifying_code(origin.panel_code or _panel_code(panel, origin)),
    }


def _panel_code(panel: Panel, origin: Origin) -> str:
    """The lines that read a panel of which only the name is known."""
    laws = "laws.txt" if panel.laws.statements() else None
    return panel_code(origin.name or "panel.csv", {"laws": laws}, anonymous=origin.anonymous)


def _about_outcomes(dossier: Dossier) -> dict[str, Any]:
    scores, replaced = dossier.scores, dossier.replaced
    return {
        "accuracies": None if scores is None else sections.accuracies(scores, replaced),
        "diversity": None if dossier.diversity is None else dossier.diversity.sentence,
        "calibration": None if scores is None else drawings.bins(scores.calibration),
        "calibration_after": None if replaced is None else drawings.bins(replaced.calibration),
        "brier": None if scores is None else scores.calibration.brier,
        "brier_after": None if replaced is None else replaced.calibration.brier,
    }


def _render(template: str, **values: Any) -> str:
    page: str = _environment().get_template(template).render(**values)
    return page


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    def name(text: str) -> Markup:
        return Markup("<bdi>{}</bdi>").format(names.shown(text))

    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": name,
        "shown": names.shown,
        "number": names.number,
        "percent": names.percent,
        "points": names.points,
        "counted": counted,
        "grouped": lambda value: f"{value:,}",
    }
    environment.globals |= {"side": drawings.SIDE}
    return environment


def _template(name: str) -> str:
    return (files("coherently.report") / "templates" / name).read_text("utf-8")
