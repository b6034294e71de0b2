"""What a version is made with: who counts how much, who and what is left out, and what past panels teach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import has_private
from coherently.web.operations.stateless import plain, recipe_of
from coherently.web.refusals import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.aggregation_shapes import AggregationDraft
    from coherently.web.store import JudgeRecord, LawRecord, QuestionRecord

MOST_PANELS = 1_000
"""How many panels of an account are looked through for past ones."""


@dataclass(frozen=True, slots=True)
class PanelMembers:
    """The judges, questions and laws of a panel by their ids."""

    judges: Mapping[str, JudgeRecord]
    questions: Mapping[str, QuestionRecord]
    laws: Mapping[str, LawRecord]

    @classmethod
    def of(cls, bench: Workbench, panel: str) -> PanelMembers:
        """Those that are there now."""
        store = bench.store
        listed = (store.judges.list(panel), store.questions.list(panel), store.laws.list(panel))
        return cls(*({each.id: each for each in part} for part in listed))  # type: ignore[arg-type]

    def name(self, part: str) -> str:
        """What people call one of them; a refusal if the panel has none of that id."""
        if part in self.judges:
            return self.judges[part].name
        if part in self.questions:
            return self.questions[part].title
        if part in self.laws:
            return self.laws[part].title or self.laws[part].statement
        raise RefusedError(
            404,
            "not-found",
            f"The panel has no judge, question or law {part!r}.",
            where="body.without",
            remedy="Send ids of judges, questions or laws of this panel.",
        )

    def words(self, part: str) -> list[str]:
        """The judge, the events or the law that the library leaves out for one of them."""
        self.name(part)
        if part in self.judges:
            return [f"judge:{self.judges[part].name}"]
        if part in self.questions:
            return [f"event:{event.event}" for event in self.questions[part].events]
        return [f"law:{self.laws[part].statement}"]


def chosen_options(bench: Workbench, panel: str, draft: AggregationDraft) -> dict[str, Any]:
    """The options of a version in plain values: names in place of ids."""
    parts = PanelMembers.of(bench, panel)
    for judge in draft.weights:
        if judge not in parts.judges:
            raise RefusedError(
                404,
                "not-found",
                f"The panel has no judge {judge!r}.",
                where="body.weights",
                remedy="Send ids of judges.",
            )
    gone = [judge for judge, weight in draft.weights.items() if weight == 0 and judge not in draft.without]
    method = draft.method if isinstance(draft.method, str) else plain(recipe_of(draft.method).as_dict())
    weights = {parts.judges[judge].name: weight for judge, weight in draft.weights.items() if weight > 0}
    if draft.learn == "weights" and draft.weights:
        raise RefusedError(
            422,
            "not-usable",
            "Weights are given or learned, not both.",
            where="body.weights",
            remedy="Leave out the weights, or learn nothing.",
        )
    return {
        "method": method,
        "loss": draft.loss,
        "learn": draft.learn,
        "weights": weights,
        "left_out": [parts.name(part) for part in dict.fromkeys([*draft.without, *gone])],
        "without": list(dict.fromkeys([*draft.without, *gone])),
    }


def leave_out(bench: Workbench, panel: str, inputs: dict[str, Any], without: Sequence[str]) -> dict[str, Any]:
    """The inputs without some judges, questions and laws; what questions declare stays, as formulas may need it."""
    if not without:
        return inputs
    parts = PanelMembers.of(bench, panel)
    judges = {parts.judges[each].name for each in without if each in parts.judges}
    events = {event.event for each in without if each in parts.questions for event in parts.questions[each].events}
    laws = {parts.laws[each].statement for each in without if each in parts.laws}
    rows = [row for row in inputs["forecasts"] if row["judge"] not in judges and row["event"] not in events]
    return inputs | {"forecasts": rows, "laws": [law for law in inputs["laws"] if law not in laws]}


def past_inputs(
    bench: Workbench, caller: AccountCaller, panel: str, asked: Sequence[str], *, inputs_of: Any
) -> list[dict[str, Any]]:
    """The answers and outcomes of past panels: of those that are asked for, or of all that have outcomes."""
    if asked:
        for each in asked:
            own_panel(bench, caller, each)
        names = [each for each in asked if each != panel]
    else:
        names = past_panels(bench, caller, panel)
    found = [inputs_of(bench, each) for each in names]
    found = [
        each for each in found if each["forecasts"] and any(value is not None for value in each["outcomes"].values())
    ]
    if not found:
        raise RefusedError(
            409,
            "nothing-past",
            "No past panel has answers with outcomes, so there is nothing to learn from.",
            where="body.past",
            remedy="Enter the outcomes of an earlier panel first.",
        )
    return found


def past_panels(bench: Workbench, caller: AccountCaller, panel: str) -> list[str]:
    """The ids of the account's other panels that have outcomes and no private numbers, the oldest first."""
    store = bench.store
    listed = store.panels.list(caller.account, limit=MOST_PANELS)
    return [
        each.id
        for each in reversed(listed)
        if each.id != panel
        and any(known.outcome is not None for known in store.outcomes.latest(each.id))
        and not has_private(bench, each.id)
    ]


def method_of(options: Mapping[str, Any]) -> str:
    """The word for the method of a version: a recipe that was given or learned is one, too."""
    method = options.get("method", "auto")
    return method if isinstance(method, str) and options.get("learn") != "recipe" else "recipe"
