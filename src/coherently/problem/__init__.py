"""What is to be solved, in arrays: distinct events with merged forecasts, and the way back to the panel."""

from coherently.problem.problem import Merged, Problem, pose

__all__ = ["Merged", "Problem", "pose"]
