"""Relations found in labelled questions: errors by class, what is found of the labels, time, and whether it repeats.

`python -m bench.relate [FOLDER]` reads questions.jsonl and relations.jsonl of a folder, ../shared/data/relations unless
another is named. A family counts as wrong if one relation between two of its questions is not among the labels, or
does not follow from them. What is "found from text" is found without the platform's field `exclusive`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from coherently.proposals import Implications, ProposedLaw, RelationName, Strength, relate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = Path("../shared/data/relations")
LIKELY, EXCLUSIONS, IMPLICATIONS, SECONDS, QUESTIONS = 0.97, 0.90, 0.85, 3.0, 2_000
"""Targets: the share of likely families without an error, what is found of the labels, time for so many questions."""
Fact: TypeAlias = tuple[str, str, str]


class Labels(NamedTuple):
    """All relations that the labels say or imply, and those that follow from the words alone."""

    true: set[Fact]
    logical: set[Fact]


def facts(proposals: Iterable[ProposedLaw]) -> set[Fact]:
    """The implications and exclusions between two events that follow."""
    together = Implications(proposals)
    found = set()
    for name in together.names():
        for other, value in together.reached((name, True)):
            if other != name:
                found.add(("implies", name, other) if value else ("excludes", *sorted((name, other))))
    return found  # type: ignore[return-value]


def read_labels(path: Path) -> Labels:
    """The labelled relations, closed under implication."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pairs = [one for one in lines if "rel" in one]
    stated = [ProposedLaw("label", RelationName(one["rel"]), (one["a"], one["b"]), Strength.CERTAIN) for one in pairs]
    logical: set[Fact] = set()
    for one in pairs:
        if one["strength"] == "logical" and one["rel"] in ("implies", "excludes"):
            ends = (one["a"], one["b"])
            logical.add((one["rel"], *(ends if one["rel"] == "implies" else sorted(ends))))
    return Labels(facts(stated), logical)


def wrong_families(proposals: Sequence[ProposedLaw], labels: Labels) -> tuple[int, dict[str, Fact]]:
    """The number of families, and of each wrong one a relation that no label says."""
    wrong: dict[str, Fact] = {}
    for one in proposals:
        extra = sorted(facts([one]) - labels.true)
        if extra:
            wrong.setdefault(one.family, extra[0])
    return len({one.family for one in proposals}), wrong


def found_share(proposals: Iterable[ProposedLaw], labels: Labels, kind: str) -> float:
    """The share of the labels of a kind that certain and likely proposals entail."""
    wanted = {fact for fact in labels.logical if fact[0] == kind}
    return len(wanted & facts(one for one in proposals if one.strength is not Strength.ASK)) / max(len(wanted), 1)


def without_flags(questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The questions without what the platform says of exclusion."""
    return [{name: value for name, value in one.items() if name != "platform_exclusive"} for one in questions]


def run(folder: Path = FOLDER) -> None:
    """Print the figures, as a table in Markdown."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    labels = read_labels(folder / "relations.jsonl")
    begun = time.process_time()
    found = relate(questions)
    seconds = (time.process_time() - begun) * QUESTIONS / len(questions)
    from_text = relate(without_flags(questions)).proposals
    again = relate(questions[::-1])
    print("| what | found | target |\n|---|---|---|")
    shown: dict[str, Fact] = {}
    for strength in (Strength.CERTAIN, Strength.LIKELY):
        count, wrong = wrong_families([one for one in found.proposals if one.strength is strength], labels)
        wanted = "no error" if strength is Strength.CERTAIN else f"{LIKELY:.0%} right"
        right = 1 - len(wrong) / max(count, 1)
        print(f"| families of class {strength} | {len(wrong)} wrong of {count}, {right:.1%} right | {wanted} |")
        shown |= wrong
    for kind, target in (("excludes", EXCLUSIONS), ("implies", IMPLICATIONS)):
        print(
            f"| logical labels '{kind}' found from text | {found_share(from_text, labels, kind):.3f} | {target:.2f} |"
        )
    print(f"| processor time for {QUESTIONS:,} questions | {seconds:.2f} s | {SECONDS:.0f} s |")
    print(f"| the same bytes from the rows in another order | {again.to_json() == found.to_json()} | True |")
    texts = found.questions
    for kind, one, other in shown.values():
        print(f"\nnot among the labels: {texts[one]!r} {kind} {texts[other]!r}")


if __name__ == "__main__":
    run(*map(Path, sys.argv[1:2]))
