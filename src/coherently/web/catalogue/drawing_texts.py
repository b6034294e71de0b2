"""What pages say about distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.web.catalogue.common_texts import Text

DRAWING: dict[str, Text] = {
    "draw.open": "Draw it instead",
    "draw.three": "Three numbers",
    "draw.low": "1 in 10 that it is less",
    "draw.middle.ask": "As likely below as above",
    "draw.high": "1 in 10 that it is more",
    "draw.three.use": "Use these three",
    "draw.bins": "A histogram",
    "draw.bins.words": "Draw over the bars, or type heights: only how they compare counts.",
    "draw.first": "from",
    "draw.last": "to",
    "draw.bin": "{low} to {high}",
    "draw.height": "Height of {bin}",
    "draw.bins.use": "Use this histogram",
    "draw.stands": "You drew this; your answers above come from it.",
    "draw.gone": "You drew this, and have changed answers since.",
    "draw.done": "Your answers to question {number} are those of your drawing.",
    "draw.wrong.number": "“{value}” is not a number. Type one such as 2.5 or 40 000.",
    "draw.wrong.order": "The three must rise: the first lies below the second, and the second below the third.",
    "draw.wrong.ends": "The histogram must end after it begins: change “from” or “to”.",
    "draw.wrong.date": "“{value}” is not a date. Type one such as 2027-03-31.",
    "draw.wrong.height": "“{value}” is not a height: type a number of 0 or more.",
    "draw.table": "Distribution of {title}",
    "draw.cell": "{low} to {high}",
    "draw.cell.first": "under {high}",
    "draw.cell.last": "{low} or more",
    "draw.cell.first.date": "by {high}",
    "draw.cell.last.date": "after {low}",
    "draw.middle": "As likely below about {value} as above.",
    "draw.range": "Eight in ten that it is between about {low} and {high}.",
    "results.distributions": "As distributions",
    "results.distributions.words": "What the numbers above say about each number and date; the outline is the panel’s average.",
    "closing.distributions.words": "What the panel’s result says about each number and date; the outline is the average before.",
}
