"""`coherently relate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coherently.cli.option_groups import gathered
from coherently.cli.options import AsJson, LabelsFile, Quiet
from coherently.cli.terminal import say, show, show_record
from coherently.errors import counted

if TYPE_CHECKING:
    from coherently.proposals import Proposals

UNDECIDED = 1


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """Who decides what."""

    accept: Annotated[
        str | None, typer.Option("--accept", metavar="CLASS", help="Accept all proposals of class certain.")
    ] = None
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            metavar="FILE",
            help="Decisions of people, one JSON object per line; reviews add to it (relations.decisions.jsonl).",
        ),
    ] = None
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides, for the file.")] = None
    same_occasion: Annotated[
        bool, typer.Option("--same-occasion", help="All questions of the file are about the same occasion.")
    ] = False


@gathered
def relate(
    *,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="[QUESTIONS]",
            show_default=False,
            help="Questions: .csv or .jsonl with id and text, maybe group, option, exclusive, open_date.",
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", metavar="FILE", help="Decide on the proposals of this file, family by family."),
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option("--add", metavar="FILE", help="Proposals of a person or a program, which go to quarantine."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the proposals: .json.")
    ] = None,
    write_laws: Annotated[
        Path | None, typer.Option("--write-laws", metavar="FILE", help="Write the accepted laws, and why.")
    ] = None,
    panel: Annotated[
        Path | None, typer.Option("--panel", metavar="FILE", help="What the judges of this panel think of each.")
    ] = None,
    labels: LabelsFile = None,
    deciding: DecisionOptions,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Propose laws from the words of questions; only what a person accepts is used.

    The exit code is 1 while proposals of class certain or likely wait for a decision.
    """
    _check_files(output, write_laws, force=force, may_replace=review)
    found = _found(questions, review, panel, labels)
    if add is not None:
        found = _added(found, add)
    found = _decided(found, deciding, ask=review is not None, quiet=quiet)
    for note in (*found.notes, *found.consequences()):
        say(f"note: {note}", quiet=quiet)
    _write(found, output, write_laws, quiet=quiet or as_json)
    if as_json:
        show_record(found)
    else:
        from coherently.cli.relation_review import family_lines
        from coherently.proposals import summary

        if output is None and review is None:
            show(*(line for family in found.families() for line in family_lines(family, found)))
        show(summary(found))
    if found.undecided:
        raise typer.Exit(UNDECIDED)


def _check_files(output: Path | None, laws: Path | None, *, force: bool, may_replace: Path | None) -> None:
    """Refuse what cannot be written before any work is done for it."""
    from coherently.errors import MethodError

    for path in (output, laws):
        if path is not None and path.exists() and not force and path != may_replace:
            raise MethodError(f"{path} exists already: give another name, or --force to replace it")


def _found(questions: Path | None, review: Path | None, panel: Path | None, labels: Path | None) -> Proposals:
    """The proposals of a file of questions, or those of an earlier run."""
    from coherently.errors import MethodError
    from coherently.panel import read_panel, read_table
    from coherently.proposals import Proposals, relate

    if (questions is None) == (review is None):
        raise MethodError("give a file of questions, or --review with a file of proposals")
    asked = None if panel is None else read_panel(panel)
    if review is not None:
        found = Proposals.from_json(review)
        return found if asked is None else found.on_panel(asked)
    titles = {}
    if labels is not None:
        table = read_table(labels)
        names = list(table.columns)
        titles = dict(zip(map(str, table.columns[names[0]]), map(str, table.columns[names[1]]), strict=True))
    assert questions is not None
    return relate(questions, panel=asked, labels=titles)


def _added(found: Proposals, path: Path) -> Proposals:
    import json

    from coherently.errors import PanelError

    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PanelError(f"{path} cannot be read as JSON: {error}", code="bad-proposal") from None
    return found.add(values)


def _decided(found: Proposals, options: DecisionOptions, *, ask: bool, quiet: bool) -> Proposals:
    """The proposals after the decisions of the file, of the options and of the person at the terminal."""
    from datetime import date

    from coherently.cli.relation_review import reviewed
    from coherently.proposals import DECISIONS_FILE, DecisionWord, RelationDecision, append_decisions, read_decisions

    path = options.decisions or Path(DECISIONS_FILE)
    told = list(read_decisions(path)) if ask or options.decisions is not None else []
    today = date.today().isoformat()
    if options.same_occasion:
        told.append(RelationDecision(DecisionWord.SAME_OCCASION, options.by or "--same-occasion", today))
    found = found.decided(told)
    if options.accept is not None:
        before = len(found.undecided)
        found = found.accept(options.accept, by=options.by or "--accept certain", date=today if options.by else "")
        taken = before - len(found.undecided)
        say(f"{counted(taken, 'proposal')} of class certain accepted", quiet=quiet)
    if ask:
        new = reviewed(found, by=options.by, date=today)
        append_decisions(new, path)
        found = found.decided(new)
        say(f"{path}: {counted(len(new), 'decision')} added", quiet=quiet)
    return found


def _write(found: Proposals, output: Path | None, laws: Path | None, *, quiet: bool) -> None:
    if laws is not None:
        text = found.laws_text()
        laws.write_text(text, "utf-8")
        say(f"{laws}: {counted(len(found.laws()), 'statement')} written", quiet=quiet)
    if output is not None:
        output.write_text(found.to_json() + "\n", "utf-8")
        say(f"{output}: {counted(len(found), 'proposal')} written", quiet=quiet)
