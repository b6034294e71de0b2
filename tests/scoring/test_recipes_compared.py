"""Several recipes side by side have names that say what they are."""

import coherently as co


def test_recipes_are_told_apart_by_their_words():
    panel = co.simulate(judges=4, variables=6, compound=4, basic=4, seed=1)
    recipes = [co.Recipe(), co.Recipe("median"), co.Recipe("log", exponent=1.5, shift=-0.25, then=None)]
    assert co.compare(panel, recipes, bootstrap=0).methods[5:] == (
        "Aggregate (recipe, then exact)",
        "Aggregate (median pool, then exact by the brier loss)",
        "Aggregate (recipe)",
    )
