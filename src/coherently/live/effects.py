"""What a revision changes in a ledger: worked out and checked first, done after it is recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherently.errors import CoherentlyError, PanelError, Where, counted
from coherently.live.assembly import check
from coherently.live.ledger import NOTHING, Contents, StandingForecast, StandingLaw, StandingOutcome, law_variables
from coherently.live.revision import Act
from coherently.panel.statements import split_statements
from coherently.panel.texts import suggest

if TYPE_CHECKING:
    from collections.abc import Callable

    from coherently.live.ledger import Ledger, Neighbourhood, Standing
    from coherently.live.revision import Revision


@dataclass(frozen=True, slots=True)
class Effect:
    """What a revision takes away and puts in, and what must be able to stand together afterwards."""

    time: float
    removes: tuple[Standing, ...] = ()
    puts: tuple[Standing, ...] = ()
    trial: Contents | None = None
    complaint: str = ""
    """What to say before the reason, if the trial fails."""

    def try_out(self) -> None:
        """Raise an error if what would stand contradicts itself."""
        if self.trial is None:
            return
        try:
            check(self.trial)
        except CoherentlyError as error:
            raise type(error)(f"{self.complaint}{error}") from None


def prepare(ledger: Ledger, revision: Revision) -> Effect:
    """What a revision will do; an error says why it cannot be done."""
    return _PREPARATIONS[revision.act](ledger, revision)


def carry_out(ledger: Ledger, effect: Effect) -> list[Neighbourhood]:
    """Do it, and say which neighbourhoods changed."""
    replaced = {(type(item), item.place) for item in effect.puts}
    touched = [ledger.remove(item, effect.time) for item in effect.removes if (type(item), item.place) not in replaced]
    old = {item.place: item for item in effect.removes if isinstance(item, StandingForecast)}
    for item in effect.puts:
        if item.place == ledger.places:
            ledger.next_place()
        if isinstance(item, StandingForecast) and item.place in old:
            touched.append(ledger.exchange(old[item.place], item))
        else:
            touched.append(ledger.put(item))
    return touched


def _add(ledger: Ledger, revision: Revision) -> Effect:
    judge, event = str(revision.judge), str(revision.event)
    meaning = ledger.words.read(event)
    standing = ledger.by_judge.get((judge, meaning.key))
    if standing:
        raise PanelError(
            f"{judge} has already forecast {event!r}: {standing[0].probability}; call revise to change it, or withdraw"
        )
    assert revision.probability is not None
    item = StandingForecast(
        ledger.places,
        revision.time,
        judge,
        event,
        probability=revision.probability,
        weight=1.0 if revision.weight is None else revision.weight,
        lower=revision.lower,
        upper=revision.upper,
        meaning=meaning,
    )
    around = ledger.around(item.variables)
    trial = Contents.of([*around, item]) if meaning.conditional and around.laws else None
    return Effect(revision.time, puts=(item,), trial=trial)


def _revise(ledger: Ledger, revision: Revision) -> Effect:
    standing = _standing(ledger, revision)
    first = standing[0]
    assert revision.probability is not None
    item = replace(
        first,
        time=revision.time,
        probability=revision.probability,
        weight=first.weight if revision.weight is None else revision.weight,
        lower=revision.lower,
        upper=revision.upper,
    )
    return Effect(revision.time, removes=tuple(standing), puts=(item,))


def _withdraw(ledger: Ledger, revision: Revision) -> Effect:
    return Effect(revision.time, removes=tuple(_standing(ledger, revision)))


def _standing(ledger: Ledger, revision: Revision) -> list[StandingForecast]:
    """The forecasts of an event by a judge."""
    judge, event = str(revision.judge), str(revision.event)
    if judge not in ledger.judges:
        known = counted(len(ledger.judges), "judge")
        message = f"unknown judge {judge!r}{suggest(judge, list(ledger.judges))}; {known} have a forecast now"
        raise PanelError(message, code="unknown-judge")
    found = ledger.by_judge.get((judge, ledger.words.read(event).key))
    if not found:
        own = counted(ledger.judges[judge], "forecast")
        raise PanelError(
            f"{judge} has no forecast of {event!r} to {revision.act}: {judge} has {own}, and an event and its "
            f"complement are two; call add to make a forecast"
        )
    return found


def _resolve(ledger: Ledger, revision: Revision) -> Effect:
    event = str(revision.event)
    name = event.strip('"')
    variables = (name,) if name in ledger.words.declared else ledger.words.read(event).variables or NOTHING
    around = ledger.around(variables)
    if not around.forecasts and not around.laws:
        known = [name for name in ledger.homes if name]
        message = f"no forecast or law is about {event!r}{suggest(event, known)}, so its outcome has no effect"
        raise PanelError(message, code="unknown-event", where=Where(event=event))
    old = ledger.outcomes.get(event)
    removes = (old,) if old is not None else ()
    if revision.outcome is None:
        if old is None:
            raise PanelError(
                f"{event!r} has no outcome to take back; {counted(len(ledger.outcomes), 'event')} have one"
            )
        return Effect(revision.time, removes=removes)
    item = StandingOutcome(ledger.places, revision.time, event, revision.outcome, variables=variables)
    others = [other for other in around if other is not old]
    return Effect(revision.time, removes=removes, puts=(item,), trial=Contents.of([*others, item]))


def _add_law(ledger: Ledger, revision: Revision) -> Effect:
    text = _statement(revision)
    if text in ledger.laws:
        raise PanelError(f"{text!r} is a law already")
    item = StandingLaw(ledger.places, revision.time, text, law_variables(text, ledger.words))
    trial = Contents.of([*ledger.around(item.variables), item])
    return Effect(revision.time, puts=(item,), trial=trial)


def _drop_law(ledger: Ledger, revision: Revision) -> Effect:
    text = _statement(revision)
    old = ledger.laws.get(text)
    if old is None:
        known = counted(len(ledger.laws), "law")
        message = f"unknown law {text!r}{suggest(text, list(ledger.laws))}; the panel has {known}"
        raise PanelError(message, code="unknown-law", where=Where(event=text))
    trial = None
    if old.declares is not None:
        trial = Contents.of(item for item in ledger.around(old.variables) if item is not old)
    return Effect(revision.time, removes=(old,), trial=trial, complaint=f"{text!r} cannot be dropped: ")


def _statement(revision: Revision) -> str:
    """A law without its comment."""
    found = split_statements([str(revision.law)])
    if len(found) != 1:
        raise PanelError(f"law is {revision.law!r}; it must be one statement: a formula, a declaration or a pin")
    return found[0].text


_PREPARATIONS: dict[Act, Callable[[Ledger, Revision], Effect]] = {
    Act.ADD: _add,
    Act.REVISE: _revise,
    Act.WITHDRAW: _withdraw,
    Act.RESOLVE: _resolve,
    Act.ADD_LAW: _add_law,
    Act.DROP_LAW: _drop_law,
}
