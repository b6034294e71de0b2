"""Questions and their events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from coherently.web.store.database.schema import columns, forecast, question, question_event, read_records
from coherently.web.store.identifiers import new_id, now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.kept_lists import KeptLists
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.store_errors import ConflictError, NotFoundError, StoreError
from coherently.web.store.store_records import KINDS, EventRecord, QuestionRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select

    from coherently.web.store.database.database import Database
    from coherently.web.store.store_records import Kind


QUESTIONS = select(*columns(QuestionRecord))
EVENTS = select(*columns(EventRecord), question_event.c.question).order_by(question_event.c.position)


def list_questions(connection: Connection, panel: str, *, withdrawn: bool = False) -> tuple[QuestionRecord, ...]:
    """The questions of a panel in their order, with their places as numbers.

    With those that are withdrawn, the numbers are those by which the store orders them.
    """
    query = QUESTIONS.where(question.c.panel == panel).order_by(question.c.number)
    events = EVENTS.where(question_event.c.panel == panel)
    if withdrawn:
        return _fetch(connection, query, events)
    found = _fetch(connection, query.where(question.c.withdrawn_at.is_(None)), events)
    return tuple(replace(each, number=place) for place, each in enumerate(found, 1))


def get_question(connection: Connection, name: str) -> QuestionRecord:
    """The question of an id."""
    own = QUESTIONS.where(question.c.id == name)
    found = _fetch(connection, own, EVENTS.where(question_event.c.question == name))
    if not found:
        raise NotFoundError("there is no such question")
    asked = (question.c.panel == found[0].panel) & question.c.withdrawn_at.is_(None)
    before = select(func.count()).select_from(question).where(asked, question.c.number < found[0].number)
    return replace(found[0], number=(connection.scalar(before) or 0) + 1)


def _fetch(connection: Connection, query: Select[Any], events: Select[Any]) -> tuple[QuestionRecord, ...]:
    """Questions, each with its events."""
    parts: dict[str, list[EventRecord]] = {}
    for row in connection.execute(events).mappings():
        own = EventRecord(**{name: value for name, value in row.items() if name != "question"})
        parts.setdefault(row["question"], []).append(own)
    found = read_records(QuestionRecord, connection.execute(query), events=())
    return tuple(replace(each, events=tuple(parts.get(each.id, ()))) for each in found)


def next_number(connection: Connection, panel: str) -> int:
    """The number by which the next question of a panel is ordered; one that is withdrawn keeps its own."""
    return (connection.scalar(select(func.max(question.c.number)).where(question.c.panel == panel)) or 0) + 1


def insert_questions(connection: Connection, made: Sequence[QuestionRecord]) -> None:
    """Add the rows of questions and of their events."""
    if made:
        connection.execute(insert(question), [stored_row(each) for each in made])
    _insert_events(connection, [(each, place, part) for each in made for place, part in enumerate(each.events)])


def _insert_events(connection: Connection, events: Sequence[tuple[QuestionRecord, int, EventRecord]]) -> None:
    rows = [
        {**stored_row(part), "panel": owner.panel, "question": owner.id, "position": place}
        for owner, place, part in events
    ]
    if rows:
        connection.execute(insert(question_event), rows)


class QuestionResource(Resource):
    """Questions; one that is withdrawn is kept, with its place and its forecasts."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._asked = KeptLists(database, list_questions)

    def add(
        self,
        panel: str,
        kind: Kind,
        title: str,
        events: Sequence[tuple[str, str]],
        definition: str = "",
        group: str = "",
        declaration: str | None = None,
    ) -> QuestionRecord:
        """Ask a question; `events` are texts in the event language, each with its title."""
        if kind not in KINDS:
            raise StoreError(f"unknown kind of question {kind!r}: the kinds are {', '.join(KINDS)}")
        if not events:
            raise StoreError("a question needs at least one event")
        records = tuple(EventRecord(new_id("e"), event, title) for event, title in events)

        def action(connection: Connection) -> QuestionRecord:
            get_panel(connection, panel)
            number = next_number(connection, panel)
            made = QuestionRecord(
                new_id("q"),
                panel,
                number,
                kind,
                title=title,
                definition=definition,
                group=group,
                declaration=declaration,
                events=records,
                added_at=now(),
            )
            insert_questions(connection, [made])
            note_change(connection, panel, "questions", question=made.id)
            return get_question(connection, made.id)

        return self._write(action)

    def get(self, name: str) -> QuestionRecord:
        """The question of an id."""
        return self._read(lambda connection: get_question(connection, name))

    def list(self, panel: str, *, withdrawn: bool = False) -> tuple[QuestionRecord, ...]:
        """Questions by number, without those that were withdrawn unless asked for."""
        if not withdrawn:
            return self._asked.get(panel)
        return self._read(lambda connection: list_questions(connection, panel, withdrawn=withdrawn))

    def count(self, panel: str) -> int:
        """The number of questions that are asked."""
        asked = question.c.panel == panel, question.c.withdrawn_at.is_(None)
        query = select(func.count()).select_from(question).where(*asked)
        return self._read(lambda connection: int(connection.scalar(query) or 0))

    def withdraw(self, name: str) -> QuestionRecord:
        """Ask it no longer."""

        def action(connection: Connection) -> QuestionRecord:
            old = get_question(connection, name)
            if old.withdrawn_at is None:
                connection.execute(update(question).where(question.c.id == name).values(withdrawn_at=now()))
                note_change(connection, old.panel, "questions", question=name)
            return get_question(connection, name)

        return self._write(action)

    def restore(self, name: str) -> QuestionRecord:
        """Ask it again, where it stood."""

        def action(connection: Connection) -> QuestionRecord:
            old = get_question(connection, name)
            if old.withdrawn_at is not None:
                connection.execute(update(question).where(question.c.id == name).values(withdrawn_at=None))
                note_change(connection, old.panel, "questions", question=name)
            return get_question(connection, name)

        return self._write(action)

    def move(self, name: str, place: int) -> QuestionRecord:
        """Put it at a place among the questions that are asked, from 1; the others close up."""

        def action(connection: Connection) -> QuestionRecord:
            old = get_question(connection, name)
            asked = (question.c.panel == old.panel) & question.c.withdrawn_at.is_(None)
            rows = connection.execute(select(question.c.id, question.c.number).where(asked)).all()
            numbers = sorted(row.number for row in rows)
            order = [row.id for row in sorted(rows, key=lambda row: row.number) if row.id != name]
            order.insert(min(max(place, 1), len(rows)) - 1, name)
            # No two questions may have the same number, not even for a moment: all step aside first.
            aside = next_number(connection, old.panel)
            for first, values in ((aside, range(len(order))), (0, numbers)):
                for each, number in zip(order, values, strict=True):
                    connection.execute(update(question).where(question.c.id == each).values(number=first + number))
            note_change(connection, old.panel, "questions", question=name)
            return get_question(connection, name)

        return self._write(action)

    def edit(
        self,
        name: str,
        title: str | None = None,
        definition: str | None = None,
        group: str | None = None,
        declaration: str | None = None,
        events: Sequence[tuple[str | None, str, str]] | None = None,
    ) -> QuestionRecord:
        """Change what is given. `events` are all events anew: id (None for a new one), text and title.

        The text of an event that has forecasts cannot change, as they were made about the old one.
        """
        given = {"title": title, "definition": definition, "group": group, "declaration": declaration}
        values = {key: value for key, value in given.items() if value is not None}

        def action(connection: Connection) -> QuestionRecord:
            old = get_question(connection, name)
            if values:
                connection.execute(update(question).where(question.c.id == name).values(values))
            if events is not None:
                _replace_events(connection, old, events)
            note_change(connection, old.panel, "questions", question=name)
            return get_question(connection, name)

        return self._write(action)


def _replace_events(connection: Connection, old: QuestionRecord, events: Sequence[tuple[str | None, str, str]]) -> None:
    if not events:
        raise StoreError("a question needs at least one event")
    before = {each.id: each.event for each in old.events}
    after = {name: text for name, text, _ in events if name is not None}
    if unknown := after.keys() - before.keys():
        raise NotFoundError(f"the question has no event {min(unknown)!r}")
    for name, text in before.items():
        if after.get(name) != text and _has_forecasts(connection, name):
            raise ConflictError(
                f"judges have answered on {text!r}, so that its text stays: withdraw the question and ask a new one"
            )
    connection.execute(delete(question_event).where(question_event.c.id.in_(before.keys() - after.keys())))
    fresh: list[tuple[QuestionRecord, int, EventRecord]] = []
    for position, (known, text, title) in enumerate(events):
        if known is None:
            fresh.append((old, position, EventRecord(new_id("e"), text, title)))
        else:
            changed = update(question_event).where(question_event.c.id == known)
            connection.execute(changed.values(position=position, event=text, title=title))
    _insert_events(connection, fresh)


def _has_forecasts(connection: Connection, event: str) -> bool:
    return connection.execute(select(forecast.c.id).where(forecast.c.event == event).limit(1)).first() is not None
