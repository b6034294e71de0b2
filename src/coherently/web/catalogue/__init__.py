"""Everything that the pages say, in one catalogue.

A text may have places in braces, which are filled by name. A text in two forms is for one and for many: the number is
given as `count`. Texts are trusted HTML; what fills their places is escaped where they are shown. Keys that begin with
`live.` (or `judge.live.`) are for scripts too, which load them as a module.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from coherently.web.catalogue.board_texts import BOARD
from coherently.web.catalogue.common_texts import COMMON, START
from coherently.web.catalogue.drawing_texts import DRAWING
from coherently.web.catalogue.influence_texts import INFLUENCE
from coherently.web.catalogue.judge_texts import JUDGE
from coherently.web.catalogue.next_texts import NEXT
from coherently.web.catalogue.people_texts import LETTERS, PEOPLE
from coherently.web.catalogue.question_texts import QUESTIONS
from coherently.web.catalogue.relation_texts import RELATIONS
from coherently.web.catalogue.result_texts import DISCUSSION, RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.catalogue.common_texts import Text

FOR_SCRIPTS = ("live.", "judge.live.")
"""How the keys of texts begin that scripts use."""


@cache
def catalogue() -> Mapping[str, Text]:
    """All texts by their keys."""
    own = (INFLUENCE, NEXT, DRAWING, LETTERS, PEOPLE, JUDGE)
    every = (COMMON, START, QUESTIONS, RELATIONS, BOARD, DISCUSSION, RESULTS, *own)
    return {key: words for texts in every for key, words in texts.items()}


def text(key: str, count: object = None) -> str:
    """The text of a key, in the form for `count`.

    >>> text("judges.count", 1), text("judges.count", 8)
    ('{count} judge', '{count} judges')
    """
    found = catalogue()[key]
    if isinstance(found, str):
        return found
    return found[0] if count == 1 else found[1]


def plain(key: str, **values: Any) -> str:
    """A text with its places filled, for where nothing is escaped.

    >>> plain("judges.count", count=8)
    '8 judges'
    """
    return text(key, values.get("count")).format(**values)


def script_module() -> str:
    """The texts of scripts, as the source of a module."""
    chosen = {key: value for key, value in catalogue().items() if key.startswith(FOR_SCRIPTS)}
    return f"export default {json.dumps(chosen, ensure_ascii=True)};\n"
