"""Who and what moves the result: a table of points, what leaving somebody out does, and how much each judge counts."""

from __future__ import annotations

import time
from statistics import mean
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from coherently.web.catalogue import plain
from coherently.web.operations import aggregation_operations as aggregations
from coherently.web.operations import known_scores, questions, version_influence
from coherently.web.operations import panel_operations as panels
from coherently.web.operations.exports import KINDS, as_csv, as_json, as_python
from coherently.web.operations.invitations import list_judges
from coherently.web.pages.facilitator.result_page import chosen
from coherently.web.pages.facilitator.shown_result import shown_result
from coherently.web.pages.facilitator.titles import capital, name_events
from coherently.web.pages.formats import percent, whole
from coherently.web.refusals import RefusedError, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.pages.facilitator.titles import NamedEvent
    from coherently.web.pages.visits import Notice, Visit
    from coherently.web.shapes.aggregation_shapes import InfluenceView, LeftOutView, ResultView

MOST_EVENTS = 24
"""How many events the table has: those that move most."""
MANY_JUDGES, FIRST_JUDGES = 40, 20
"""Beyond so many judges the table has the first of them, and a field to find others by their names."""
STEPS = ((5, "h3"), (3, "h2"), (1, "h1"))
"""From how many points on a cell looks how."""
DASH, SAME = "–", "·"
"""Not asked then; no change."""


def show_influence(visit: Visit, note: Notice | None = None) -> Response:
    """The page, of the newest version or of the one that is asked for."""
    bench, caller, panel = visit.bench, visit.caller, visit.part("panel")
    versions = aggregations.list_aggregations(bench, caller, panel).aggregations
    current = chosen(versions, visit.asked("version"))
    view_of_panel = panels.get_panel(bench, caller, panel)
    common: dict[str, Any] = {"panel": view_of_panel, "current": current, "note": note or visit.notice()}
    status = 422 if note is not None and note.tone == "wrong" else 200
    if current is None:
        return visit.show("influence.html", status, lead=plain("influence.none"), table=None, **common)
    common |= {
        "weights": weight_rows(visit, panel, current.weights),
        "past": known_scores.past_weights(bench, caller, panel),
    }
    left = list(dict.fromkeys(visit.asked_all("without", "jql")))
    found, gone = in_time(visit, panel, current.id, left)
    if found is None or (left and gone is None):
        again = f"/panels/{panel}/influence?{visit.request.url.query}"
        return visit.show(
            "influence.html", status, lead=plain("influence.unfinished"), unfinished=again, table=None, **common
        )
    result = aggregations.get_result(bench, caller, panel, current.id)
    events = name_events(questions.list_questions(bench, caller, panel).questions)
    view = InfluenceTable(result, found, events)
    return visit.show(
        "influence.html",
        status,
        lead=view.lead(),
        table=view.shown(visit.asked("find").strip()),
        find=visit.asked("find"),
        parts=parts_of(visit, panel, found),
        left=left,
        compared=None if gone is None else view.compared(gone),
        events=[(each.id, each.title) for each in events.values() if each.event in found.events],
        reasons=reasons_of(visit, panel, current.id),
        **common,
    )


def in_time(
    visit: Visit, panel: str, version: str, left: Sequence[str]
) -> tuple[InfluenceView | None, InfluenceView | None]:
    """The table, and what some move together who are left out, as far as they are there while the page waits."""
    begun, most = time.monotonic(), visit.bench.settings.limits.page_seconds
    found = []
    for without in ((), left) if left else ((),):
        wait = max(0.0, begun + most - time.monotonic())
        calls = visit.request.app.state.calculator
        asked = (visit.bench, visit.caller, panel, version)
        found.append(version_influence.influence_in_time(*asked, calls=calls, without=without, wait=wait))
    return found[0], found[1] if left else None


def reasons_of(visit: Visit, panel: str, version: str) -> SimpleNamespace | None:
    """Why the event that is asked about has its number; None if none is asked about."""
    event = visit.asked_id("why", "e")
    if not event:
        return None
    calls = visit.request.app.state.calculator
    try:
        found = version_influence.get_reasons(visit.bench, visit.caller, panel, version, calls=calls, event=event)
    except RefusedError as error:  # it is not in this version, or took too long
        return SimpleNamespace(event=event, sentences=[str(error)])
    return SimpleNamespace(event=event, sentences=found.sentences)


def parts_of(visit: Visit, panel: str, found: InfluenceView) -> SimpleNamespace:
    """Who and what may be left out."""
    listed = questions.list_questions(visit.bench, visit.caller, panel).questions
    there = {row.id for row in found.left_out}
    return SimpleNamespace(
        judges=sorted(((row.id, row.name) for row in found.left_out if row.kind == "judge"), key=lambda each: each[1]),
        questions=[(each.id, f"{each.number} {each.title}") for each in listed if each.id in there],
        laws=[(row.id, row.name) for row in found.left_out if row.kind == "law" and row.id],
    )


def weight_rows(visit: Visit, panel: str, weights: Mapping[str, float]) -> list[SimpleNamespace]:
    """How much each judge counts in the version that is shown."""
    listed = list_judges(visit.bench, visit.caller, panel).judges
    return [
        SimpleNamespace(id=each.id, name=each.name, weight=f"{round(weights.get(each.name, 1.0), 3):g}")
        for each in listed
        if each.answered
    ]


class InfluenceTable:
    """The numbers of a version, and by how many points they move."""

    def __init__(self, result: ResultView, found: InfluenceView, events: Mapping[str, NamedEvent]) -> None:
        self.found, self.events = found, found.events
        self.named = {each.event: each for each in events.values()}
        shown = shown_result(result.events, result.laws).after
        self.base = [None if (value := shown.get(event)) is None else whole(value) for event in self.events]
        self.answers: dict[str, dict[str, float]] = {}
        for row in result.forecasts:
            self.answers.setdefault(row["event"], {})[row["judge"]] = row["probability"]

    def title(self, place: int) -> str:
        """What an event is called."""
        named = self.named.get(self.events[place])
        return named.title if named else self.events[place]

    def points(self, place: int, change: float | None) -> int | None:
        """The difference of the whole per cents before and after a change; None where nobody is asked then."""
        now = self.found.probability[place]
        return None if change is None or now is None else whole(min(max(now + change, 0.0), 1.0)) - whole(now)

    def lead(self) -> str:
        """How far the most influential judge moves anything, and what the laws do."""
        judges = [row for row in self.found.left_out if row.kind == "judge"]
        if len(judges) < 2:
            return plain("influence.lead.one")
        most, who, place = max(
            ((abs(points), row.name, place) for row in judges for place, points in self._moves(row)), default=(0, "", 0)
        )
        first = plain("influence.lead.none") if not most else plain(
            "influence.lead", count=most, name=who, title=self.title(place)
        )  # fmt: skip
        laws = [row for row in self.found.left_out if row.kind == "law"]
        moving = sum(any(points for _, points in self._moves(row)) for row in laws)
        tail = plain("influence.laws", count=len(laws), moving=moving) if moving else ""
        tail = plain("influence.laws.none") if laws and not moving else tail
        return " ".join(filter(None, [first, tail, self.found.note or ""]))

    def _moves(self, row: LeftOutView) -> list[tuple[int, int]]:
        found = ((place, self.points(place, change)) for place, change in enumerate(row.change))
        return [(place, points) for place, points in found if points is not None]

    def shown(self, find: str) -> SimpleNamespace:
        """The heads of the columns, and the rows under their headings."""
        reach = [
            max((abs(row.change[place] or 0.0) for row in self.found.left_out), default=0.0)
            for place in range(len(self.events))
        ]
        order = sorted(range(len(self.events)), key=lambda place: -reach[place])[:MOST_EVENTS]
        sheet = {event: number for number, event in enumerate(self.named)}
        places = sorted(order, key=lambda place: (sheet.get(self.events[place], len(sheet)), place))
        heads = [self.named.get(self.events[place]) for place in places]
        groups = []
        for kind in ("judge", "question", "law"):
            rows = [row for row in self.found.left_out if row.kind == kind]
            cut = kind == "judge" and len(rows) > MANY_JUDGES
            kept = [row for row in rows if find.casefold() in row.name.casefold()] if cut and find else rows
            kept = kept[:FIRST_JUDGES] if cut else kept
            made = [self._row(row, places, f"{kind[0]}{number}") for number, row in enumerate(kept)]
            if made or cut:
                groups.append(SimpleNamespace(kind=kind, rows=made, cut=len(rows) if cut else 0))
        cells = [cell for group in groups for row in group.rows for cell in row.cells if cell.key]
        return SimpleNamespace(
            first=max(cells, key=lambda cell: cell.points).key if cells else "",
            heads=[
                SimpleNamespace(title=self.title(place), short=capital(head.short) if head else self.events[place])
                for place, head in zip(places, heads, strict=True)
            ],
            above=_spans([head.topic if head else "" for head in heads]),
            base=[DASH if self.base[place] is None else str(self.base[place]) for place in places],
            groups=groups,
            hidden=len(self.events) - len(places),
        )

    def _row(self, row: LeftOutView, places: Sequence[int], key: str) -> SimpleNamespace:
        number = next((each.number for each in self.named.values() if row.id and each.question == row.id), None)
        name = f"{number} {row.name}" if number else row.name
        cells = [self._cell(row, place, f"{key}-{place}") for place in places]
        return SimpleNamespace(id=row.id, name=name, cells=cells, exact=row.exact)

    def _cell(self, row: LeftOutView, place: int, key: str) -> SimpleNamespace:
        points, base = self.points(place, row.change[place]), self.base[place]
        if points is None or base is None:
            return SimpleNamespace(words=DASH, look="none", key="", sentence="", points=0)
        if not points:
            return SimpleNamespace(words=SAME, look="none", key="", sentence="", points=0)
        look = next(name for least, name in STEPS if abs(points) >= least)
        words = f"{'' if row.exact else '~'}{'+' if points > 0 else '−'}{abs(points)}"
        sentence = self._sentence(row, place, base, points)
        return SimpleNamespace(words=words, look=look, key=f"m-{key}", sentence=sentence, points=abs(points))

    def _sentence(self, row: LeftOutView, place: int, base: int, points: int) -> SimpleNamespace:
        before, after = (percent(value / 100) for value in (base, max(0, min(100, base + points))))
        name = plain(f"influence.name.{row.kind}", name=row.name)
        first = plain("influence.cell", title=capital(self.title(place)), before=before, name=name, after=after)
        return SimpleNamespace(first=first, why=self._why(row, place))

    def _why(self, row: LeftOutView, place: int) -> str:
        if row.kind != "judge":
            raw = self.found.raw[place]
            key = f"influence.why.{row.kind}"
            return plain(key, raw=percent(raw)) if raw is not None else ""
        given = self.answers.get(self.events[place], {})
        others = [value for judge, value in given.items() if judge != row.name]
        if row.name not in given:
            return plain("influence.why.silent", name=row.name)
        said = percent(given[row.name])
        if not others:
            return plain("influence.why.alone", name=row.name, said=said)
        return plain("influence.why.judge", name=row.name, said=said, others=percent(mean(others)))

    def compared(self, gone: InfluenceView) -> SimpleNamespace:
        """Every number that moves without some judges, questions and laws."""
        (row,) = gone.left_out
        moves = sorted(
            ((points, place) for place, points in self._moves(row) if points), key=lambda each: -abs(each[0])
        )
        rows = [
            SimpleNamespace(
                title=capital(self.title(place)),
                before=(base := self.base[place] or 0) / 100,
                after=max(0, min(100, base + points)) / 100,
                change=f"{'+' if points > 0 else '−'}{abs(points)}",
            )
            for points, place in moves
        ]
        words = plain(
            "influence.moved", count=len(rows), of=len(self.events), names=", ".join(gone.without),
            most=abs(moves[0][0]) if moves else 0,
        )  # fmt: skip
        return SimpleNamespace(
            rows=rows, words=words if rows else plain("influence.still", names=", ".join(gone.without))
        )


def _spans(topics: Sequence[str]) -> list[tuple[str, int]]:
    """Headings above columns that belong together, with how many they are."""
    found: list[tuple[str, int]] = []
    for topic in topics:
        if found and topic and found[-1][0] == topic:
            found[-1] = topic, found[-1][1] + 1
        else:
            found.append((topic, 1))
    return found if any(topic for topic, _ in found) else []


def influence_file(visit: Visit) -> Response:
    """The table as CSV, as JSON or as Python."""
    bench, caller, panel, ending = visit.bench, visit.caller, visit.part("panel"), visit.part("ending")
    if ending not in KINDS:
        raise not_found("table")
    version = visit.part("aggregation")
    found = version_influence.get_influence(bench, caller, panel, version, calls=visit.request.app.state.calculator)
    if ending == "json":
        text = as_json(found.influence)
    elif ending == "csv":
        rows = [
            {"kind": row.kind, "left_out": row.name, "event": event, "probability": value, "change": change}
            for row in found.left_out
            for event, value, change in zip(found.events, found.probability, row.change, strict=True)
        ]
        text = as_csv(rows, ("kind", "left_out", "event", "probability", "change"))
    else:
        result = aggregations.get_result(bench, caller, panel, version)
        inputs = {"forecasts": result.forecasts, "laws": result.laws, "outcomes": result.outcomes}
        script = as_python(inputs, result.recipe or result.aggregation.method, result.aggregation.loss)
        text = f"{script}print(result.influence().frame())\n"
    headers = {"Content-Disposition": f'attachment; filename="influence.{ending}"'}
    return Response(text, media_type=KINDS[ending], headers=headers)
