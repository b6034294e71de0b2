"""Coherence by a linear program over every world, and random forecasts that are coherent."""

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

import coherently as co
from tests.solve.reference import every_world, formulas, truth

CLOSE = 1e-7
"""Distances from coherence between nothing and this are left to the solver of linear programs."""


def shift(rows, price):
    """The least L1 distance of prices from mixtures of the rows (worlds) of a truth table."""
    worlds, bets = rows.shape
    matrix = np.hstack([rows.T, np.eye(bets), -np.eye(bets)])
    matrix = np.vstack([matrix, np.concatenate([np.ones(worlds), np.zeros(2 * bets)])])
    cost = np.concatenate([np.zeros(worlds), np.ones(2 * bets)])
    return linprog(cost, A_eq=matrix, b_eq=np.append(price, 1.0), method="highs").fun


def incoherence(panel, index=None):
    """How far some forecasts, or all, are from coherent ones, in L1."""
    index = np.arange(len(panel)) if index is None else np.asarray(index, int)
    rows = truth(panel, panel.written.event[panel.event_index[index]])
    return shift(rows, panel.probability[index])


def worlds(panel):
    """Every world by the names of its variables."""
    names = panel.events.variables
    return [dict(zip(names, row, strict=True)) for row in every_world(panel).tolist()]


@st.composite
def coherent_records(draw, most=3, n_variables=5, judges="AB"):
    """Forecasts of random events that come from random distributions over worlds, one for each judge."""
    names = [f"v{i}" for i in range(draw(st.integers(1, n_variables)))]
    texts = draw(st.lists(formulas(names, most), min_size=1, max_size=15))
    panel = co.Panel.from_records([("A", text, 0.5) for text in texts])
    rows = truth(panel, panel.written.event[panel.event_index])
    answers = []
    for judge in judges:
        weight = np.array(draw(st.lists(st.floats(0, 1), min_size=len(rows), max_size=len(rows))))
        weight = (weight + (weight.sum() == 0)) / (weight + (weight.sum() == 0)).sum()
        chance = np.clip(weight @ rows, 0, 1)
        answers += [(judge, text, p) for text, p in zip(texts, chance.tolist(), strict=True)]
    return answers
