"""The tools that agents call: name, words, fields and what each does; and their schemas for other interfaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.agents import tool_calls, tool_fields
from coherently.contract import ObjectOf
from coherently.contract.description import DIALECT, MisfitError, Schema
from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coherently.agents.tool_calls import CallGrounds, ToolAnswer
    from coherently.contract import RecordField


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: what it is called, what it does in words, what it takes and gives, and the function that does it."""

    name: str
    title: str
    description: str
    takes: ObjectOf
    gives: ObjectOf
    call: Callable[[Mapping[str, Any], CallGrounds], ToolAnswer]

    def input_schema(self) -> Schema:
        """What it takes, as JSON Schema."""
        return {"$schema": DIALECT, **self.takes.schema()}

    def output_schema(self) -> Schema:
        """What it gives, as JSON Schema."""
        return {"$schema": DIALECT, **self.gives.schema()}

    def check(self, arguments: Any) -> None:
        """Refuse arguments of another shape, in words that name the field."""
        try:
            self.takes.check(arguments, "")
        except MisfitError as error:
            raise error.told_as(PanelError) from None


def _tool(
    name: str,
    title: str,
    description: str,
    *fields: RecordField,
    gives: ObjectOf,
    call: Callable[[Mapping[str, Any], CallGrounds], ToolAnswer],
) -> AgentTool:
    return AgentTool(
        name, title, description, takes=ObjectOf(f"the arguments of {name}", fields), gives=gives, call=call
    )


TOOLS = {
    tool.name: tool
    for tool in (
        _tool(
            "check",
            "Check forecasts",
            "Say whether probabilities of logically related events can all be right at once, for each judge and for "
            "the means of all judges, and name those that contradict each other in sentences with numbers. "
            "Use it on a batch of answers before they are used. It changes nothing.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.SECONDS_FIELD,
            gives=tool_fields.CHECK_ANSWER,
            call=tool_calls.check,
        ),
        _tool(
            "repair",
            "Repair forecasts",
            "Give the coherent probabilities that are nearest to those that were given, with several judges to their "
            "means: one number per event, before and after. "
            "Use it when check finds contradictions, or to combine judges.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.SECONDS_FIELD,
            gives=tool_fields.REPAIR_ANSWER,
            call=tool_calls.repair,
        ),
        _tool(
            "bounds",
            "Bound other events",
            "Give the least and the greatest probability that the forecasts imply for further events, by logic alone. "
            "Use it for events that nobody was asked about.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.EVENTS_FIELD,
            tool_fields.SECONDS_FIELD,
            gives=tool_fields.BOUNDS_ANSWER,
            call=tool_calls.bounds,
        ),
        _tool(
            "relate",
            "Propose laws",
            "Propose laws between questions in words: deadlines, thresholds, negations, names, parts and wholes. "
            "Read each proposal before you pass it as a law: those called certain follow by structure, those called "
            "likely by a convention, and those called ask are open.",
            tool_fields.QUESTIONS_FIELD,
            gives=tool_fields.RELATE_ANSWER,
            call=tool_calls.relate,
        ),
        _tool(
            "book",
            "Find a Dutch book",
            "Find bets at the given probabilities that win whatever happens, in exact arithmetic, or say that there "
            "are none. Use it to show what incoherent probabilities cost.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.SECONDS_FIELD,
            gives=tool_fields.BOOK_ANSWER,
            call=tool_calls.book,
        ),
        _tool(
            "verify",
            "Verify a repair",
            "Check independently, without a solver, that a result of repair keeps its promises about these forecasts: "
            "coherent, as near as it says, from the same numbers.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.RESULT_FIELD,
            gives=tool_fields.VERIFY_ANSWER,
            call=tool_calls.verify,
        ),
        _tool(
            "ask_next",
            "Choose the next question",
            "Name the events whose answers would say most about one event, about all candidates, or about where the "
            "contradictions are. Use it to decide what to forecast next.",
            *tool_fields.PANEL_FIELDS,
            tool_fields.ABOUT_FIELD,
            tool_fields.CANDIDATES_FIELD,
            tool_fields.COUNT_FIELD,
            tool_fields.SECONDS_FIELD,
            gives=tool_fields.ASK_ANSWER,
            call=tool_calls.ask_next,
        ),
    )
}
"""The tools by their names."""


def tool_schemas() -> list[dict[str, Any]]:
    """The tools as the function tools of OpenAI-style interfaces.

    >>> [tool["function"]["name"] for tool in tool_schemas()]
    ['check', 'repair', 'bounds', 'relate', 'book', 'verify', 'ask_next']
    """
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.takes.schema()},
        }
        for tool in TOOLS.values()
    ]
