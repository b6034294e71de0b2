"""Pictures with matplotlib: each function draws on the given axes, or on new ones, and returns them.

>>> import coherently as co
>>> panel = co.Panel.from_records([("Ann", "p", 0.8), ("Ann", "p & q", 0.9), ("Bob", "q", 0.4)])
>>> ax = co.plot.adjustments(co.aggregate(panel))
>>> [label.get_text() for label in ax.get_yticklabels()]
['p & q', 'q']
"""

from coherently.plot.consistency_pictures import accuracy, checks, joint, leaderboard, monitor, repairs
from coherently.plot.pictures import adjustments, calibration, convergence, fusion, graph, influence, judges, scores

__all__ = [
    "accuracy",
    "adjustments",
    "calibration",
    "checks",
    "convergence",
    "fusion",
    "graph",
    "influence",
    "joint",
    "judges",
    "leaderboard",
    "monitor",
    "repairs",
    "scores",
]
