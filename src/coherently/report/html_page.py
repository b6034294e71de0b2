"""One self-contained HTML page about a dossier, to share."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherently.errors import MissingDependencyError, PanelError, counted
from coherently.report import drawings, names, sections
from coherently.report.verification_code import panel_code, verifying_code
from coherently.solve import Coherence

if TYPE_CHECKING:
    import os

    from coherently.panel import Panel
    from coherently.report.dossier import Dossier

ENDINGS = (".html", ".htm")
KINDS = {Coherence.GLOBAL: "coherent", Coherence.LOCAL: "locally coherent", Coherence.NONE: "pooled"}
"""What forecasts are called, by how far they are coherent."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page comes from: the name of the panel's file, and when the page was made; both may be unknown.

    `panel_code` are the lines of Python that make the panel, for those who verify the result.
    """

    name: str | None = None
    made: str | None = None
    panel_code: str | None = None


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
    """The page of a dossier: who contradicts what, scores, and the forecasts and the certificate of a result."""
    if dossier.result is None:
        return _check_page(dossier, origin)
    result, verification = dossier.result, dossier.verification
    trace, forecasts = result.trace, sections.forecasts(result)
    return _render(
        "result.html",
        result=result,
        worlds=None if result.worlds is None else sum(len(part.weight) for part in result.worlds.parts),
        forecasts=forecasts,
        largest=forecasts.largest(),
        curves=None if trace is None else drawings.curves(trace, result.lower_bound),
        sweeps=0 if trace is None else len(trace.objective) - 1,
        certificate=sections.certificate(result),
        verifying_code=verifying_code(origin.panel_code or _panel_code(result.panel, origin.name)),
        verification=verification,
        rests_on=Counter(verification.bound_rests_on if verification is not None else ()).most_common(),
        **_about_panel(dossier, origin),
    )


def _panel_code(panel: Panel, name: str | None) -> str:
    """The lines that read a panel of which only the name is known."""
    laws = "laws.txt" if panel.laws.statements() else None
    return panel_code(name or "panel.csv", {"laws": laws})


def _check_page(dossier: Dossier, origin: Origin) -> str:
    assert dossier.check is not None
    repairs = sections.repairs(dossier.check.book, dossier.panel)
    return _render("check.html", forecasts=repairs, **_about_panel(dossier, origin))


def _about_panel(dossier: Dossier, origin: Origin) -> dict[str, Any]:
    panel, found, scores, replaced = dossier.panel, dossier.check, dossier.scores, dossier.replaced
    return {
        "panel": panel,
        "origin": origin,
        "kind": "coherent" if dossier.result is None else KINDS[dossier.result.coherence],
        "versions": sections.versions(),
        "graph": drawings.picture(panel),
        "found": found,
        "judges": None if found is None else sections.judges(found),
        "contradictions": () if found is None else sections.contradictions(found),
        "book": None if found is None else sections.bets(found.book, panel.labels),
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
        "probability": names.probability,
        "signed": names.signed,
        "counted": counted,
        "grouped": lambda value: f"{value:,}",
    }
    environment.globals |= {"side": drawings.SIDE, "width": drawings.WIDTH, "height": drawings.HEIGHT}
    return environment


def _template(name: str) -> str:
    return (files("coherently.report") / "templates" / name).read_text("utf-8")
