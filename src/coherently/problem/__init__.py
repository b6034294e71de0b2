"""What is to be solved, in arrays: distinct events with merged forecasts, and the way back to the panel."""

from coherently.problem.designs import with_auxiliary
from coherently.problem.groups import Groups
from coherently.problem.problem import Merged, Problem, pose, pose_individually
from coherently.problem.registry import DESIGNS, SHARING, Design, find_design

__all__ = [
    "DESIGNS",
    "SHARING",
    "Design",
    "Groups",
    "Merged",
    "Problem",
    "find_design",
    "pose",
    "pose_individually",
    "with_auxiliary",
]
