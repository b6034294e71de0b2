"""Distributions that judges drew, with all their knots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from coherently.web.store.database.schema import columns, drawn, read_records
from coherently.web.store.identifiers import now
from coherently.web.store.resources.change_resource import Resource
from coherently.web.store.resources.judge_resource import get_judge
from coherently.web.store.resources.question_resource import get_question
from coherently.web.store.resources.round_resource import current_round
from coherently.web.store.store_errors import NotFoundError
from coherently.web.store.store_records import DrawnRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

DRAWN = select(*columns(DrawnRecord))


class DrawnResource(Resource):
    """What was drawn is kept beside the answers that it became; nothing is ever changed."""

    def keep(self, judge: str, question: str, curve: dict[str, Any]) -> DrawnRecord:
        """Keep what a judge drew for a question; an empty curve takes back what was drawn."""

        def action(connection: Connection) -> DrawnRecord:
            home = get_judge(connection, judge).panel
            if get_question(connection, question).panel != home:
                raise NotFoundError("there is no such question")
            number = current_round(connection, home).number
            made = DrawnRecord(home, judge, question, curve, round=number, time=now())
            connection.execute(insert(drawn), made.as_dict())
            return made

        return self._write(action)

    def latest(self, panel: str, judge: str | None = None) -> tuple[DrawnRecord, ...]:
        """The drawings that hold, of a judge or of all, in the order of their times."""
        last = {(each.judge, each.question): each for each in self.history(panel, judge)}
        return tuple(each for each in last.values() if each.curve)

    def history(self, panel: str, judge: str | None = None) -> tuple[DrawnRecord, ...]:
        """All that was ever drawn, in order."""
        query = DRAWN.where(drawn.c.panel == panel).order_by(drawn.c.id)
        if judge is not None:
            query = query.where(drawn.c.judge == judge)
        return self._read(lambda connection: tuple(read_records(DrawnRecord, connection.execute(query))))
