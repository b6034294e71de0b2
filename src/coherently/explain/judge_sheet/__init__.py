"""The desk: what one judge's answers allow and contradict, and what a panel's answers leave open.

Pure functions on values; nothing here knows of a store or of the web.
"""

from __future__ import annotations

from coherently.explain.fit.sheet_values import (
    AnswerChange,
    Answered,
    AnswerState,
    Band,
    Clash,
    DraftReading,
    Feedback,
    Item,
    Overview,
    SheetSetting,
    Spread,
    Suggestion,
)
from coherently.explain.judge_sheet.attempts import Attempts
from coherently.explain.judge_sheet.drawn_curves import (
    AnswerAxis,
    DrawnCurve,
    bins_curve,
    curve_answers,
    quantile,
    read_axis,
)
from coherently.explain.judge_sheet.live_feedback import feedback, fit, warm_up
from coherently.explain.judge_sheet.panel_overview import (
    PanelAnswers,
    PanelLook,
    ask_next,
    averages,
    follows,
    look_at_panel,
    overview,
    rises,
)
from coherently.explain.judge_sheet.question_drafts import LooseWord, loose_names, needless_laws, read_draft

__all__ = [
    "AnswerAxis",
    "AnswerChange",
    "AnswerState",
    "Answered",
    "Attempts",
    "Band",
    "Clash",
    "DraftReading",
    "DrawnCurve",
    "Feedback",
    "Item",
    "LooseWord",
    "Overview",
    "PanelAnswers",
    "PanelLook",
    "SheetSetting",
    "Spread",
    "Suggestion",
    "ask_next",
    "averages",
    "bins_curve",
    "curve_answers",
    "feedback",
    "fit",
    "follows",
    "look_at_panel",
    "loose_names",
    "needless_laws",
    "overview",
    "quantile",
    "read_axis",
    "read_draft",
    "rises",
    "warm_up",
]
