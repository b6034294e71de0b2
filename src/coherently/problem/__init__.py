"""What is to be solved, in arrays: distinct events with merged forecasts, and the way back to the panel."""

from coherently.problem.functions import LARGEST_TABLE, Functions, decode
from coherently.problem.groups.attached import Attached, attach, distance, with_points, without_weightless
from coherently.problem.groups.clusters import lawful_clusters, wider_clusters
from coherently.problem.groups.named import SHARING, Design, find_design
from coherently.problem.groups.shared import clique_tree, clusters, with_auxiliary
from coherently.problem.groups.simple import MAX_VARIABLES as LARGEST_GROUP
from coherently.problem.groups.simple import Groups
from coherently.problem.losses import BRIER, KERNELS, LOSSES, Brier, Log, Loss, Spherical, find_loss
from coherently.problem.parts import Part, components_of, split, split_some
from coherently.problem.pose import pose, pose_again, pose_individually, pose_numbers
from coherently.problem.problem import Merged, Problem, Way
from coherently.problem.settled import possible, settled
from coherently.problem.spaces.space import FREE, Block, BlockForm, LawFunctions, Space
from coherently.problem.spaces.states import States, TooManyStatesError
from coherently.problem.spaces.symmetry import broken_symmetry
from coherently.problem.terms import ABSENT, NO_TERMS, Intervals, Limits, Sides
from coherently.problem.units import Layer, in_units, is_level, layers_of, unit_of

__all__ = [
    "ABSENT",
    "BRIER",
    "FREE",
    "KERNELS",
    "LARGEST_GROUP",
    "LARGEST_TABLE",
    "LOSSES",
    "NO_TERMS",
    "SHARING",
    "Attached",
    "Block",
    "BlockForm",
    "Brier",
    "Design",
    "Functions",
    "Groups",
    "Intervals",
    "LawFunctions",
    "Layer",
    "Limits",
    "Log",
    "Loss",
    "Merged",
    "Part",
    "Problem",
    "Sides",
    "Space",
    "Spherical",
    "States",
    "TooManyStatesError",
    "Way",
    "attach",
    "broken_symmetry",
    "clique_tree",
    "clusters",
    "components_of",
    "decode",
    "distance",
    "find_design",
    "find_loss",
    "in_units",
    "is_level",
    "lawful_clusters",
    "layers_of",
    "pose",
    "pose_again",
    "pose_individually",
    "pose_numbers",
    "possible",
    "settled",
    "split",
    "split_some",
    "unit_of",
    "wider_clusters",
    "with_auxiliary",
    "with_points",
    "without_weightless",
]
