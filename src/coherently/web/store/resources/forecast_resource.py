"""Forecasts: recorded, never changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select

from coherently.web.store.database.schema import (
    answer,
    columns,
    forecast,
    judge,
    panel,
    question,
    question_event,
    read_records,
    round_phase,
)
from coherently.web.store.database.upserts import insert_or_replace
from coherently.web.store.identifiers import now, read_time
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.once import do_once
from coherently.web.store.resources.round_resource import ANSWERING
from coherently.web.store.store_errors import ConflictError, NotFoundError, StoreError
from coherently.web.store.store_records import ForecastRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, ScalarSelect, Select

    from coherently.web.store.store_records import AnswerGiven

MOST_REASON = 100_000
"""Maximum number of characters of a reason: a cell of an archive's table can hold as many."""
SELECTED = select(*columns(ForecastRecord))
OWN = (
    SELECTED.where(forecast.c.state != "withdrawn")
    .join(answer, answer.c.forecast == forecast.c.id)
    .where(
        answer.c.judge
        == select(judge.c.id)
        .where(judge.c.id == bindparam("its_judge"), judge.c.panel == bindparam("its_panel"))
        .scalar_subquery()
    )
    .order_by(answer.c.forecast)
)
"""The answers of a judge that stand. Every look at a sheet asks this: it is put together once."""
ADDED = insert(forecast).returning(forecast.c.id, sort_by_parameter_order=True)
PRESENT = (
    select(judge.c.panel, round_phase.c.number, round_phase.c.phase, round_phase.c.closes_at)
    .join(panel, panel.c.id == judge.c.panel)
    .join(round_phase, round_phase.c.panel == judge.c.panel)
    .where(judge.c.id == bindparam("its_judge"), panel.c.deleted_at.is_(None))
    .order_by(round_phase.c.id.desc())
    .limit(1)
)
"""The panel of a judge and the phase that it is in."""
ASKED = (
    select(question_event.c.id)
    .join(question, question.c.id == question_event.c.question)
    .where(question_event.c.id.in_(bindparam("its_events", expanding=True)))
    .where(question_event.c.panel == bindparam("its_panel"), question.c.withdrawn_at.is_(None))
)
"""Those of some events that a panel asks about."""


def insert_forecasts(connection: Connection, panel: str, rows: Sequence[dict[str, Any]]) -> list[int]:
    """Add rows in order, and note which are the last of their judge on their event; returns their numbers."""
    numbers = list(connection.scalars(ADDED, [{**row, "panel": panel} for row in rows]))
    last = {(row["judge"], row["event"]): number for row, number in zip(rows, numbers, strict=True)}
    current = [{"judge": judge, "event": event, "panel": panel, "forecast": n} for (judge, event), n in last.items()]
    insert_or_replace(connection, answer, current)
    return numbers


def _fetch(connection: Connection, query: Select[Any]) -> tuple[ForecastRecord, ...]:
    return tuple(read_records(ForecastRecord, connection.execute(query)))


def _judge_of(home: str, name: str) -> ScalarSelect[str]:
    """A judge, if it is one of the panel: so the index of the judge's forecasts is used, not the panel's."""
    return select(judge.c.id).where(judge.c.id == name, judge.c.panel == home).scalar_subquery()


def _event_of(home: str, name: str) -> ScalarSelect[str]:
    """An event, if it is one of the panel."""
    return (
        select(question_event.c.id).where(question_event.c.id == name, question_event.c.panel == home).scalar_subquery()
    )


class ForecastResource(Resource):
    """What judges said, in order; the last forecast on an event is the answer."""

    def record(
        self,
        judge: str,
        answers: Sequence[AnswerGiven],
        key: str | None = None,
        phases: Sequence[str] | None = ANSWERING,
    ) -> tuple[ForecastRecord, ...]:
        """Record answers of a judge, all of them or none; when this returns, they are on the disk.

        `phases` are those in which this may be; None is for the facilitator, at any time. The same `key` with the same
        answers records nothing again, and returns what the first call did.
        """
        for each in answers:
            if each.probability is not None and not 0 <= each.probability <= 1:
                raise StoreError(f"a probability lies between 0 and 1, not {each.probability}")
            if len(each.reason) > MOST_REASON:
                raise StoreError(f"a reason has at most {MOST_REASON:,} characters, not {len(each.reason):,}")

        def action(connection: Connection) -> tuple[ForecastRecord, ...]:
            return _record_answers(connection, judge, answers, phases)

        if key is None:
            return self._write(action)
        digest = hashlib.sha256(json.dumps([astuple(each) for each in answers]).encode()).hexdigest()

        def keyed(connection: Connection) -> tuple[ForecastRecord, ...]:
            recorded: list[ForecastRecord] = []

            def numbers() -> tuple[int, list[int]]:
                recorded.extend(action(connection))
                return 200, [each.id for each in recorded]

            answer = do_once(connection, f"forecasts {judge}", key, digest, action=numbers)
            if not answer.repeated:
                return tuple(recorded)
            return _fetch(connection, SELECTED.where(forecast.c.id.in_(answer.body)).order_by(forecast.c.id))

        return self._write(keyed)

    def latest(
        self, panel: str, judge: str | None = None, as_of: str | None = None, before_round: int | None = None
    ) -> tuple[ForecastRecord, ...]:
        """The answers that stand, or stood at a time or before a round began, whatever the clock says.

        Abstentions are among them, what was withdrawn is not.
        """
        if judge is not None and as_of is None and before_round is None:
            its = {"its_panel": panel, "its_judge": judge}
            return self._read(lambda connection: tuple(read_records(ForecastRecord, connection.execute(OWN, its))))
        query = SELECTED.where(forecast.c.state != "withdrawn")
        if as_of is None and before_round is None:
            query = query.join(answer, answer.c.forecast == forecast.c.id).order_by(answer.c.forecast)
            query = query.where(answer.c.panel == panel)
        else:
            theirs = forecast.c.panel == panel if judge is None else forecast.c.judge == _judge_of(panel, judge)
            last = select(func.max(forecast.c.id)).where(theirs)
            if as_of is not None:
                last = last.where(forecast.c.time <= read_time(as_of))
            if before_round is not None:
                last = last.where(forecast.c.round < before_round)
            query = query.where(forecast.c.id.in_(last.group_by(forecast.c.judge, forecast.c.event)))
            query = query.order_by(forecast.c.id)
        return self._read(lambda connection: _fetch(connection, query))

    def history(
        self, panel: str, judge: str | None = None, event: str | None = None, after: int = 0, limit: int = 1000
    ) -> tuple[ForecastRecord, ...]:
        """All forecasts in order; `after` is the number of the last one seen."""
        query = SELECTED.where(forecast.c.id > after).order_by(forecast.c.id).limit(limit)
        if judge is not None:
            query = query.where(forecast.c.judge == _judge_of(panel, judge))
        if event is not None:
            query = query.where(forecast.c.event == _event_of(panel, event))
        if judge is None and event is None:
            query = query.where(forecast.c.panel == panel)
        return self._read(lambda connection: _fetch(connection, query))

    def last(self, panel: str) -> int:
        """The number of the last forecast; 0 if there is none."""
        query = select(func.max(forecast.c.id)).where(forecast.c.panel == panel)
        return self._read(lambda connection: connection.scalar(query) or 0)

    def count(self, panel: str) -> int:
        """How many forecasts were ever recorded."""
        query = select(func.count()).select_from(forecast).where(forecast.c.panel == panel)
        return self._read(lambda connection: connection.scalar(query) or 0)


def _record_answers(
    connection: Connection, name: str, answers: Sequence[AnswerGiven], phases: Sequence[str] | None
) -> tuple[ForecastRecord, ...]:
    present = connection.execute(PRESENT, {"its_judge": name}).first()
    if present is None:
        raise NotFoundError("there is no such judge")
    home, moment = present.panel, now()
    if phases is not None:
        _check_open(present, phases, moment)
    _check_events(connection, home, {each.event for each in answers})
    if not answers:
        return ()
    rows: list[dict[str, Any]] = [
        {
            "judge": name,
            "event": each.event,
            "probability": None if each.withdrawn else each.probability,
            "state": each.state,
            "locked": each.locked,
            "reason": each.reason,
            "round": present.number,
            "time": moment,
        }
        for each in answers
    ]
    numbers = insert_forecasts(connection, home, rows)
    note_change(connection, home, "answers", judge=name, events=sorted({each.event for each in answers}))
    return tuple(ForecastRecord(id=number, **row) for number, row in zip(numbers, rows, strict=True))


def _check_open(present: Any, phases: Sequence[str], moment: str) -> None:
    if present.phase not in phases:
        raise ConflictError(f"the panel is in the phase {present.phase!r}: answers are taken in {' and '.join(phases)}")
    if present.closes_at is not None and present.closes_at <= moment:
        raise ConflictError(f"the round closed at {present.closes_at}")


def _check_events(connection: Connection, home: str, events: set[str]) -> None:
    known = connection.scalars(ASKED, {"its_panel": home, "its_events": sorted(events)})
    if missing := events - set(known):
        raise NotFoundError(f"the panel asks about no event {min(missing)!r}, or no longer")
