"""Judges, their links and what they handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, bindparam, delete, func, insert, or_, select, update

from coherently.web.store.database.schema import (
    columns,
    hand_in,
    judge,
    judge_link,
    panel,
    read_record,
    read_records,
    session,
)
from coherently.web.store.identifiers import hash_secret, new_id, new_secret, now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.resources.round_resource import current_round
from coherently.web.store.store_errors import ConflictError, NotFoundError
from coherently.web.store.store_records import HandInRecord, JudgeRecord
from coherently.web.store.stored_fields import stored_row

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


HAS_LINK = judge.c.link_hash.is_not(None) & judge.c.revoked_at.is_(None)
SELECTED = select(*columns(JudgeRecord), HAS_LINK.label("has_link"))
HASHED: BindParameter[str] = bindparam("its_hash")
MAILED = select(judge_link.c.judge).where(judge_link.c.secret_hash == HASHED)
LINKED = SELECTED.join(panel, panel.c.id == judge.c.panel).where(
    or_(judge.c.link_hash == HASHED, judge.c.id.in_(MAILED)), panel.c.deleted_at.is_(None), judge.c.revoked_at.is_(None)
)
"""The judge of a link. Every request of a judge asks this: it is put together once."""
HANDED_IN = (
    select(*columns(HandInRecord))
    .where(hand_in.c.panel == bindparam("its_panel"))
    .order_by(hand_in.c.time, hand_in.c.judge)
)
HANDED_IN_ROUND = HANDED_IN.where(hand_in.c.round == bindparam("its_round"))


def get_judge(connection: Connection, name: str) -> JudgeRecord:
    """The judge of an id."""
    record = _first(connection, SELECTED.where(judge.c.id == name))
    if record is None:
        raise NotFoundError("there is no such judge")
    return record


def _first(connection: Connection, query: Select[Any]) -> JudgeRecord | None:
    return read_record(JudgeRecord, connection.execute(query))


def insert_judge(connection: Connection, made: JudgeRecord, link_hash: str | None = None) -> None:
    """Add the row of a judge; names are unique within a panel."""
    taken = select(judge.c.id).where(judge.c.panel == made.panel, judge.c.name == made.name)
    if connection.execute(taken).first() is not None:
        raise ConflictError(f"the panel has a judge named {made.name!r} already: choose another name")
    last = connection.scalar(select(func.max(judge.c.position)).where(judge.c.panel == made.panel))
    beside = {"link_hash": link_hash, "position": (last or 0) + 1}
    connection.execute(insert(judge), stored_row(made) | beside)


class JudgeResource(Resource):
    """Judges of panels. The secret of a link is given once; only its hash is kept."""

    def invite(self, panel: str, name: str, address: str = "") -> tuple[JudgeRecord, str]:
        """Add a judge with a link; the text is the link's secret."""
        secret = new_secret()
        return self._add(panel, name, hash_secret(secret), address), secret

    def add(self, panel: str, name: str) -> JudgeRecord:
        """Add a judge without a link, such as one from a file."""
        return self._add(panel, name, None)

    def _add(self, panel: str, name: str, link_hash: str | None, address: str = "") -> JudgeRecord:
        has_link = link_hash is not None
        made = JudgeRecord(new_id("j"), panel, name, has_link, invited_at=now(), address=address)

        def action(connection: Connection) -> JudgeRecord:
            get_panel(connection, panel)
            insert_judge(connection, made, link_hash)
            note_change(connection, panel, "judges", judge=made.id)
            return made

        return self._write(action)

    def get(self, name: str) -> JudgeRecord:
        """The judge of an id."""
        return self._read(lambda connection: get_judge(connection, name))

    def list(self, panel: str) -> tuple[JudgeRecord, ...]:
        """All judges, in the order in which they were added."""
        query = SELECTED.where(judge.c.panel == panel).order_by(judge.c.position)
        return self._read(lambda connection: tuple(read_records(JudgeRecord, connection.execute(query))))

    def list_of(self, owner: str) -> tuple[JudgeRecord, ...]:
        """The judges of all panels of an account that were not deleted, those of the oldest panel first."""
        query = SELECTED.join(panel, panel.c.id == judge.c.panel)
        query = query.where(panel.c.owner == owner, panel.c.deleted_at.is_(None))
        query = query.order_by(panel.c.created_at, panel.c.id, judge.c.position)
        return self._read(lambda connection: tuple(read_records(JudgeRecord, connection.execute(query))))

    def count(self, panel: str) -> int:
        """The number of judges."""
        query = select(func.count()).select_from(judge).where(judge.c.panel == panel)
        return self._read(lambda connection: int(connection.scalar(query) or 0))

    def by_name(self, panel: str, name: str) -> JudgeRecord | None:
        """The judge of a name."""
        query = SELECTED.where(judge.c.panel == panel, judge.c.name == name)
        return self._read(lambda connection: _first(connection, query))

    def by_link(self, secret: str) -> JudgeRecord | None:
        """The judge of a link; None if there is none, it was withdrawn, or its panel was deleted."""
        hashed = {"its_hash": hash_secret(secret)}
        return self._read(lambda connection: read_record(JudgeRecord, connection.execute(LINKED, hashed)))

    def renew_link(self, name: str) -> str:
        """A new link instead of the old one, which ends; the text is its secret."""
        secret = new_secret()
        self._change(name, {"link_hash": hash_secret(secret), "revoked_at": None}, ends_links=True)
        return secret

    def revoke(self, name: str) -> JudgeRecord:
        """Withdraw the link; the answers are kept."""
        return self._change(name, {"link_hash": None, "revoked_at": now()}, ends_links=True)

    def rename(self, name: str, new_name: str) -> JudgeRecord:
        """Change a judge's name."""

        def action(connection: Connection) -> JudgeRecord:
            old = get_judge(connection, name)
            taken = select(judge.c.id).where(judge.c.panel == old.panel, judge.c.name == new_name, judge.c.id != name)
            if connection.execute(taken).first() is not None:
                raise ConflictError(f"the panel has a judge named {new_name!r} already: choose another name")
            return self._change(name, {"name": new_name})

        return self._write(action)

    def set_address(self, name: str, address: str) -> JudgeRecord:
        """Say where mail to a judge goes; an empty text is nowhere."""
        return self._change(name, {"address": address})

    def set_person(self, name: str, person: str) -> JudgeRecord:
        """Say which person a judge is, over several panels; an empty text is nobody of other panels."""
        return self._change(name, {"person": person})

    def opened(self, name: str) -> JudgeRecord:
        """Note that the link was opened; the first time counts."""
        known = self.get(name)
        return known if known.opened_at is not None else self._change(name, {"opened_at": now()})

    def hand_in(self, name: str) -> HandInRecord:
        """Note that the judge's answers of this round are all; the last time counts."""

        def action(connection: Connection) -> HandInRecord:
            owner = get_judge(connection, name).panel
            get_panel(connection, owner)
            made = HandInRecord(name, current_round(connection, owner).number, now())
            connection.execute(delete(hand_in).where(hand_in.c.judge == name, hand_in.c.round == made.round))
            connection.execute(insert(hand_in), {**made.as_dict(), "panel": owner})
            note_change(connection, owner, "hand-in", judge=name, round=made.round)
            return made

        return self._write(action)

    def hand_ins(self, panel: str, round: int | None = None) -> tuple[HandInRecord, ...]:  # noqa: A002
        """Who handed in when, in a round or in all of them."""
        its: dict[str, Any] = {"its_panel": panel}
        query = HANDED_IN
        if round is not None:
            query, its = HANDED_IN_ROUND, its | {"its_round": round}
        return self._read(lambda connection: tuple(read_records(HandInRecord, connection.execute(query, its))))

    def _change(self, name: str, values: dict[str, Any], *, ends_links: bool = False) -> JudgeRecord:
        def action(connection: Connection) -> JudgeRecord:
            old = get_judge(connection, name)
            connection.execute(update(judge).where(judge.c.id == name).values(values))
            if ends_links:
                connection.execute(delete(judge_link).where(judge_link.c.judge == name))
                connection.execute(delete(session).where(session.c.judge == name))
            note_change(connection, old.panel, "judges", judge=name)
            return get_judge(connection, name)

        return self._write(action)
