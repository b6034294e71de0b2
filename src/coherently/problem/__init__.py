"""What is to be solved, in arrays: distinct events with merged forecasts, and the way back to the panel."""

from coherently.problem.designs import clusters, with_auxiliary
from coherently.problem.groups import Groups
from coherently.problem.losses import BRIER, Brier, Log, Loss, Spherical, find_loss
from coherently.problem.parts import Part, split
from coherently.problem.problem import Merged, Problem, pose, pose_individually
from coherently.problem.registry import DESIGNS, SHARING, Design, find_design

__all__ = [
    "BRIER",
    "DESIGNS",
    "SHARING",
    "Brier",
    "Design",
    "Groups",
    "Log",
    "Loss",
    "Merged",
    "Part",
    "Problem",
    "Spherical",
    "clusters",
    "find_design",
    "find_loss",
    "pose",
    "pose_individually",
    "split",
    "with_auxiliary",
]
