"""What is said beside the numbers: comments, what reasons did, and contradictions that were meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, insert, select, update

from coherently.web.store.database.schema import columns, comment, meant, reaction, read_record, read_records
from coherently.web.store.identifiers import new_id, now
from coherently.web.store.resources.change_resource import Resource, note_change
from coherently.web.store.resources.judge_resource import get_judge
from coherently.web.store.resources.panel_resource import get_panel
from coherently.web.store.resources.question_resource import get_question
from coherently.web.store.resources.round_resource import current_round
from coherently.web.store.store_errors import NotFoundError
from coherently.web.store.store_records import CommentRecord, MeantRecord, ReactionRecord

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

COMMENTS = select(*columns(CommentRecord))
MEANT = select(*columns(MeantRecord))
OWN_MEANT = MEANT.where(
    meant.c.panel == bindparam("its_panel"), meant.c.judge == bindparam("its_judge"), meant.c.taken_back_at.is_(None)
).order_by(meant.c.id)
"""What a judge means. Every look at a sheet asks this: it is put together once."""
REACTIONS = select(*columns(ReactionRecord))


def insert_comment(connection: Connection, made: CommentRecord) -> None:
    """Add the row of a comment, after all others of its panel."""
    last = connection.scalar(select(func.max(comment.c.position)).where(comment.c.panel == made.panel))
    connection.execute(insert(comment), {**made.as_dict(), "position": (last or 0) + 1})


def _get_comment(connection: Connection, name: str) -> CommentRecord:
    record = read_record(CommentRecord, connection.execute(COMMENTS.where(comment.c.id == name)))
    if record is None:
        raise NotFoundError("there is no such comment")
    return record


class CommentResource(Resource):
    """Comments in order; who may see them is decided elsewhere."""

    def add(
        self, panel: str, text: str, judge: str | None = None, question: str | None = None, about: str | None = None
    ) -> CommentRecord:
        """Add a comment of a judge, or of the facilitator, on a question or on the whole panel.

        `about` is the judge to whose reason for the question it replies.
        """

        def action(connection: Connection) -> CommentRecord:
            get_panel(connection, panel)
            if any(get_judge(connection, one).panel != panel for one in (judge, about) if one is not None):
                raise NotFoundError("there is no such judge")
            if question is not None and get_question(connection, question).panel != panel:
                raise NotFoundError("there is no such question")
            number = current_round(connection, panel).number
            made = CommentRecord(new_id("c"), panel, judge, question, text=text, round=number, time=now(), about=about)
            insert_comment(connection, made)
            note_change(connection, panel, "comments", comment=made.id)
            return made

        return self._write(action)

    def get(self, name: str) -> CommentRecord:
        """The comment of an id."""
        return self._read(lambda connection: _get_comment(connection, name))

    def list(
        self,
        panel: str,
        question: str | None = None,
        after: str | None = None,
        limit: int = 1000,
        *,
        withdrawn: bool = False,
    ) -> tuple[CommentRecord, ...]:
        """Comments in order; `after` is the id of the last one seen. What was withdrawn comes only if asked for."""
        query = COMMENTS.where(comment.c.panel == panel)
        if not withdrawn:
            query = query.where(comment.c.withdrawn_at.is_(None))
        if question is not None:
            query = query.where(comment.c.question == question)
        if after is not None:
            seen = select(comment.c.position).where(comment.c.id == after).scalar_subquery()
            query = query.where(comment.c.position > seen)
        query = query.order_by(comment.c.position).limit(limit)
        return self._read(lambda connection: tuple(read_records(CommentRecord, connection.execute(query))))

    def withdraw(self, name: str) -> CommentRecord:
        """Show a comment no longer."""
        return self._set(name, comment.c.withdrawn_at.is_(None), withdrawn_at=now())

    def hide(self, name: str) -> CommentRecord:
        """Let judges see a comment no longer."""
        return self._set(name, comment.c.hidden_at.is_(None), hidden_at=now())

    def show(self, name: str) -> CommentRecord:
        """Let judges see a comment again."""
        return self._set(name, comment.c.hidden_at.is_not(None), hidden_at=None)

    def _set(self, name: str, condition: ColumnElement[bool], **values: str | None) -> CommentRecord:
        def action(connection: Connection) -> CommentRecord:
            old = _get_comment(connection, name)
            if connection.execute(update(comment).where(comment.c.id == name, condition).values(values)).rowcount:
                note_change(connection, old.panel, "comments", comment=name)
            return _get_comment(connection, name)

        return self._write(action)


class ReactionResource(Resource):
    """Whose mind a reason changed, and which reasons the facilitator hid."""

    def add(self, question: str, author: str, judge: str | None = None) -> ReactionRecord:
        """Note that the author's reason changed a judge's mind, or that the facilitator hid it; once is enough."""

        def action(connection: Connection) -> ReactionRecord:
            home = get_judge(connection, author).panel
            if get_question(connection, question).panel != home:
                raise NotFoundError("there is no such question")
            if judge is not None and get_judge(connection, judge).panel != home:
                raise NotFoundError("there is no such judge")
            standing = REACTIONS.where(_standing(question, author, judge))
            known = read_record(ReactionRecord, connection.execute(standing))
            if known is not None:
                return known
            made = ReactionRecord(home, question, author, judge, time=now())
            connection.execute(insert(reaction), made.as_dict())
            note_change(connection, home, "comments", question=question)
            return made

        return self._write(action)

    def take_back(self, question: str, author: str, judge: str | None = None) -> None:
        """Note that it did not, or that the reason is shown again."""

        def action(connection: Connection) -> None:
            home = get_judge(connection, author).panel
            ended = update(reaction).where(_standing(question, author, judge)).values(taken_back_at=now())
            if connection.execute(ended).rowcount:
                note_change(connection, home, "comments", question=question)

        self._write(action)

    def list(self, panel: str, *, taken_back: bool = False) -> tuple[ReactionRecord, ...]:
        """All of a panel, in order; with what was taken back if asked for."""
        query = REACTIONS.where(reaction.c.panel == panel).order_by(reaction.c.id)
        if not taken_back:
            query = query.where(reaction.c.taken_back_at.is_(None))
        return self._read(lambda connection: tuple(read_records(ReactionRecord, connection.execute(query))))


def _standing(question: str, author: str, judge: str | None) -> ColumnElement[bool]:
    own = (reaction.c.question == question) & (reaction.c.author == author) & reaction.c.taken_back_at.is_(None)
    return own & (reaction.c.judge.is_(None) if judge is None else reaction.c.judge == judge)


class MeantResource(Resource):
    """Contradictions that judges meant, by the key that the feedback gives them."""

    def say(self, judge: str, key: str, sentence: str, reason: str = "") -> MeantRecord:
        """Note that a judge meant a contradiction; said again, the last sentence and reason count."""

        def action(connection: Connection) -> MeantRecord:
            home = get_judge(connection, judge).panel
            get_panel(connection, home)
            made = MeantRecord(home, judge, key, sentence, reason=reason, time=now())
            _take_back(connection, judge, key, made.time)
            connection.execute(insert(meant), made.as_dict())
            note_change(connection, home, "meant", judge=judge, key=key)
            return made

        return self._write(action)

    def take_back(self, judge: str, key: str) -> None:
        """Note that it was not meant after all."""

        def action(connection: Connection) -> None:
            home = get_judge(connection, judge).panel
            if not _take_back(connection, judge, key, now()):
                raise NotFoundError("nothing with this key was meant")
            note_change(connection, home, "meant", judge=judge, key=key)

        self._write(action)

    def list(self, panel: str, judge: str | None = None, *, taken_back: bool = False) -> tuple[MeantRecord, ...]:
        """What was meant, in order; with what was taken back if asked for."""
        if judge is not None and not taken_back:
            its = {"its_panel": panel, "its_judge": judge}
            return self._read(lambda connection: tuple(read_records(MeantRecord, connection.execute(OWN_MEANT, its))))
        query = MEANT.where(meant.c.panel == panel).order_by(meant.c.id)
        if judge is not None:
            query = query.where(meant.c.judge == judge)
        if not taken_back:
            query = query.where(meant.c.taken_back_at.is_(None))
        return self._read(lambda connection: tuple(read_records(MeantRecord, connection.execute(query))))


def _take_back(connection: Connection, judge: str, key: str, moment: str) -> bool:
    standing = (meant.c.judge == judge) & (meant.c.key == key) & meant.c.taken_back_at.is_(None)
    return connection.execute(update(meant).where(standing).values(taken_back_at=moment)).rowcount > 0
