"""What is to be solved, in arrays: distinct events with merged forecasts, and the way back to the panel."""

from coherently.problem.groups import DESIGNS, Design, Groups, find_design
from coherently.problem.problem import Merged, Problem, pose, pose_individually

__all__ = ["DESIGNS", "Design", "Groups", "Merged", "Problem", "find_design", "pose", "pose_individually"]
