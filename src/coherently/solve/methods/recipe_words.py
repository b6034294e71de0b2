"""What a recipe does, step by step in words: a recipe file can be followed without this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherently.solve.methods.judge_factors import LINE_CLIP, NEAREST

if TYPE_CHECKING:
    from coherently.solve.methods.recipe import Recipe

POOL_STEPS = {
    "mixed": (
        "For each event as written, p and ~p apart, take (1 - h) times the weighted mean of the forecasts plus h times "
        "the probability whose log-odds are 1.2 r times the weighted mean of their log-odds (forecasts clipped to "
        "{clip:g} and 1 less that); r is 1 less the sum of v / n divided by the sum of squares of these means, with "
        "v the variance of the judges' log-odds and n their number if all counted alike, both sums over the events of "
        "several judges, by weight, and r at least 0; h is {share}."
    ),
    "linear": "For each event as written, p and ~p apart, take the weighted mean of the forecasts.",
    "trimmed": (
        "For each event as written, p and ~p apart, take the weighted mean of the forecasts without the highest and "
        "the lowest fifth of the weight."
    ),
    "median": "For each event as written, p and ~p apart, take the weighted median of the forecasts.",
    "log": (
        "For each event as written, p and ~p apart, take the weighted mean of the log-odds of the forecasts, clipped "
        "to {clip:g} and 1 less that, as a probability; where the weighted mean of the forecasts is farther from 1/2 "
        "on the same side, take that."
    ),
}
"""What each pool does, in words."""
OTHER_POOL = "For each event as written, p and ~p apart, take the {pool} pool of the forecasts."
NOISE_SHARE = (
    "the median over judges of A / (s B), at most 1, with A the squared distance of the judge from the judge's nearest "
    "coherent forecasts, B that from the mean of all judges, and s the share of random noise in the judge's forecasts "
    "that making them coherent takes away"
)


def recipe_steps(recipe: Recipe) -> tuple[str, ...]:
    """One sentence per step."""
    said = _blend_steps(recipe) if recipe.parts else [*_weight_steps(recipe), _pool_step(recipe)]
    if not (recipe.exponent == 1 and recipe.shift == 0):
        clip = min(recipe.clip, LINE_CLIP)
        said.append(
            f"Multiply log-odds, log(p / (1 - p)) of p between {clip:g} and {1 - clip:g}, by {recipe.exponent:.6g} "
            f"and add {recipe.shift:.6g}."
        )
    if recipe.then is not None:
        said.append(
            f"Make the numbers coherent by {recipe.then.name}: the nearest coherent ones by the {recipe.loss} loss, "
            "each weighted as its forecasts."
        )
    return tuple(said)


def _blend_steps(recipe: Recipe) -> list[str]:
    total = sum(share for share, _ in recipe.parts)
    parts = enumerate(recipe.parts, 1)
    said = [f"Part {i}, share {share / total:.4g}: {' '.join(part.steps)}" for i, (share, part) in parts]
    return [
        *said,
        f"Average the log-odds of the parts by their shares, each number between {NEAREST:g} and 1 less that.",
    ]


def _weight_steps(recipe: Recipe) -> list[str]:
    said = []
    if recipe.judges:
        said.append("Weight each judge by the number in judges; who is not there counts as the mean of these.")
    if recipe.consensus:
        said.append(
            f"Weight each judge by (median of d / d) ^ {recipe.consensus:g}, d the judge's mean squared distance in "
            "log-odds from the medians of events, with ten forecasts of mean distance added."
        )
    if recipe.signal:
        said.append(
            f"Weight each judge by (s / v) ^ {recipe.signal:g}, where the judge's log-odds are s times the weighted "
            "mean of the others' plus an error of variance v, both with ten mean forecasts added; if the judge "
            "answered in n independent components, to the power (n - 1) / (n + 3) relative to the median judge."
        )
    return said


def _pool_step(recipe: Recipe) -> str:
    share = NOISE_SHARE if recipe.log_share is None else f"{recipe.log_share:.6g}"
    return POOL_STEPS.get(recipe.pool, OTHER_POOL).format(pool=recipe.pool, clip=recipe.clip, share=share)
