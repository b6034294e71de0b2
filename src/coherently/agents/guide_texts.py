"""What a model should know to use the tools: pages about formulas, laws and the way to work, and prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.errors import PanelError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page to read: the last part of its address, title, what it is about, and its text."""

    name: str
    title: str
    description: str
    text: str


FORMULAS = """# Events as formulas

An event is a formula over variables. A variable is a name (letters, digits, _) or any text in double quotes.

| write | meaning |
|---|---|
| `rain` or `"Will it rain on May 1?"` | one event |
| `~a` or `not a` | a does not happen |
| `a & b` or `a and b` | both happen |
| `a | b` or `a or b` | at least one happens |
| `a ^ b` | exactly one of two happens |
| `a -> b` | if a happens, so does b |
| `a <-> b` | both or neither |
| `a given b` | a, if b happens; a bet on it is called off otherwise |
| `exactly(1; a, b, c)`, `at_least(2; a, b, c)`, `at_most(1; a, b, c)` | how many happen |
| `winner = Ann`, `rate < 3`, `due <= 2026-06-30` | a declared variable and its value |

`given` is loosest and stands once, outside of parentheses. The same name is the same event in all forecasts, so
write a question in the same words each time, or give it a short name. A question in words is one event if it stands in
quotes:
{"event": "\\"Rates cut by June 30, 2026\\"", "probability": 0.4}
"""
LAWS = """# Laws

A law is a formula that is certainly true, or a declaration. Without laws, different names are free of each other.

- `june -> december`: what happens by June has happened by December
- `~(ann_wins & bob_wins)`: not both
- `exactly(1; ann, bob, other)`: one of them
- `variable winner: Ann, Bob, ...`: one of these values, or another (`winner = other`)
- `variable rate: number` and then events such as `rate < 3`: thresholds are ordered
- `P(rain) = 0.3`, `P(rain) <= 0.4`: a probability that is fixed or limited

Laws that contradict each other are refused, with those that do.
"""
WORK = """# How to work with the tools

1. Write one object for each answer: judge (such as the model), event, probability. Add the laws that tie the questions.
2. Call check. If it is coherent, you are done.
3. Call repair with the same arguments. The list has each event with the number that was given and the repaired one.
4. Say what moved. Where a number moved much, think again about the question before you take the repaired number over.

bounds says what the answers imply for an event that was not asked. relate proposes laws from words; pass on those that
you believe. ask_next says which question to answer next. book shows what contradictions cost. verify checks a repair
without its solver. A whole record of each answer is at its address, `record`. A refused call says which field is
wrong and what is allowed.
"""
PAGES = {
    page.name: page
    for page in (
        GuidePage("formulas", "Events as formulas", "How to write events as formulas.", FORMULAS),
        GuidePage("laws", "Laws", "How to write what is certainly true.", LAWS),
        GuidePage("work", "How to work with the tools", "Which tool to call when.", WORK),
    )
}
"""The pages by their names."""


@dataclass(frozen=True, slots=True)
class GuidePrompt:
    """A prompt with arguments: name, title, what it is for, its arguments with their meanings, and its text."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str], ...]
    text: str

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with the values of its arguments, which stand in it as data, between marks."""
        known = [name for name, _ in self.arguments]
        for name in known:
            if not values.get(name, "").strip():
                raise PanelError(f"the argument {name} of the prompt {self.name} is missing", code="missing-argument")
        told = "\n".join(f"<{name}>\n{values[name]}\n</{name}>" for name in known)
        return f"{self.text}\n\n{told}"


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        GuidePrompt(
            name="forecast_together",
            title="Forecast related questions together",
            description="Forecast a list of related questions so that the answers fit together.",
            arguments=(("questions", "the questions, one per line"),),
            text="Forecast the questions below. First give each a short name and write the laws that tie them (read "
            "coherently://guide/laws). Give a probability for each. Then call check with your answers as forecasts, "
            "and the laws. If they contradict each other, think again about those that the sentences name, call "
            "repair, and give the repaired numbers in a table with one line on each that moved.",
        ),
        GuidePrompt(
            name="write_events",
            title="Write questions as formulas",
            description="Turn questions in words into events and laws.",
            arguments=(("questions", "the questions, one per line"),),
            text="Turn the questions below into events: a short name for each basic question, a formula for each that "
            "is made of others, and laws for what is certainly true (read coherently://guide/formulas). Call relate "
            "with the questions for proposals, and keep only those laws that hold without exception.",
        ),
    )
}
"""The prompts by their names."""
