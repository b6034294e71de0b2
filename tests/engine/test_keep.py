"""Finished components outlive the run that solved them."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

import coherently as co
from coherently.engine.keep import Keep
from coherently.solve import Budget
from coherently.solve.component import component_map
from coherently.solve.component.answer import Answer, Ended
from tests.engine.panels_of_parts import hard_panel, panel_of_parts, records
from tests.proofcheck.proof_cases import wide_rows


def count_of(file):
    keep = Keep(file)
    count = len(keep)
    keep.close()
    return count


@pytest.fixture
def solved(monkeypatch):
    """The components that are solved, one entry each time."""
    every, plain = [], component_map.solve_component

    def count(part, *more, **options):
        every.append(part)
        return plain(part, *more, **options)

    monkeypatch.setattr(component_map, "solve_component", count)
    return every


def test_what_is_kept_is_not_solved_again(tmp_path, solved):
    panel, file = panel_of_parts(30), tmp_path / "finished"
    first = co.aggregate(panel, keep=file)
    costly = count_of(file)
    assert 5 < costly < len(solved)
    total = len(solved)
    solved.clear()
    assert co.aggregate(panel, keep=file).to_json() == first.to_json() == co.aggregate(panel).to_json()
    assert len(solved) == total - costly + total  # and then everything, without the file


def test_what_is_kept_has_no_hints_so_a_proof_solves_it_again(tmp_path):
    panel, file = co.Panel.from_records(wide_rows(5), laws=["v0 -> v1"]), tmp_path / "finished"
    for _ in range(2):
        result = co.aggregate(panel, keep=file, proof=True)
        assert co.verify(panel, result, proof=result.proof()).bound_rests_on == ["proved by messages"]
    assert count_of(file) == 1


def test_only_what_changed_is_solved_again(tmp_path, solved):
    file, rows = tmp_path / "finished", list(records(30))
    co.aggregate(co.Panel.from_records(rows), keep=file)
    before, largest = count_of(file), max(solved, key=len)
    name = co.Panel.from_records(rows).events.variables[int(largest.origin[0])]
    changed = [(j, e, 0.123 if e == name else p) for j, e, p in rows]
    solved.clear()
    result = co.aggregate(co.Panel.from_records(changed), keep=file)
    assert count_of(file) == before + 1
    assert result.solution == co.aggregate(co.Panel.from_records(changed)).solution


def test_tolerances_and_seeds_are_kept_apart(tmp_path):
    file, panel = tmp_path / "finished", panel_of_parts(10, most=30)
    sizes = []
    for method in (co.Exact(), co.Exact(tolerance=1e-3), co.Exact(seed=1), co.Exact()):
        co.aggregate(panel, method, keep=file)
        sizes.append(count_of(file))
    assert sizes == [sizes[0], 2 * sizes[0], 3 * sizes[0], 3 * sizes[0]]


def test_an_answer_that_time_cut_short_is_not_kept():
    keep = Keep()
    co.aggregate(hard_panel(), co.Exact(time_limit=0.3), keep=keep)
    assert len(keep) == 0


def test_answers_survive_as_bytes():
    from coherently.problem import pose, split
    from coherently.solve.component.objective import goal_of

    problem = pose(co.simulate(judges=2, variables=10, seed=1))
    part = split(problem.merged)[0].merged
    answer = component_map.Task(part, goal_of(part, problem.loss, linearised=False), 0).solve(Budget())
    for one in (answer, replace(answer, degenerate=np.array([3, 1]), objective=0.1 + 0.2, ended=Ended.TIME)):
        assert Answer.from_bytes(one.to_bytes()) == one


def test_files_of_another_kind_are_refused(tmp_path):
    panel = panel_of_parts(2)
    text = tmp_path / "panel.csv"
    text.write_text("judge,event,probability\n" * 200)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as base:
        base.execute("create table songs (title text)")
    base.close()
    newer = tmp_path / "newer.db"
    Keep(newer).close()
    with sqlite3.connect(newer) as base:
        base.execute("pragma user_version = 99")
    base.close()
    for file, reason in (
        (text, "not a database"),
        (other, "of another kind"),
        (newer, "of another version"),
        (tmp_path / "absent" / "file", "existing folder"),
        (tmp_path, "existing folder"),
    ):
        with pytest.raises(co.EngineError, match=reason):
            co.aggregate(panel, keep=file)
    assert text.read_text().startswith("judge")


def test_a_damaged_answer_is_solved_again_and_a_damaged_file_is_an_error(tmp_path):
    file, panel = tmp_path / "finished", panel_of_parts(6)
    here = co.aggregate(panel, keep=file)
    with sqlite3.connect(file) as base:
        base.execute("update finished set answer = zeroblob(length(answer))")
    base.close()
    assert co.aggregate(panel, keep=file).solution == here.solution
    assert co.aggregate(panel, keep=file).solution == here.solution
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + b"x" * (len(whole) - 100))
    with pytest.raises(co.EngineError, match="cannot be used to keep finished components"):
        co.aggregate(panel, keep=file)


def test_two_programs_do_not_write_to_one_file(tmp_path):
    file = tmp_path / "finished"
    first, second = Keep(file), Keep(file)
    first.add(b"a", b"1")
    with pytest.raises(co.EngineError, match="locked"):
        second.add(b"b", b"2")
    first.close()
    second.add(b"b", b"2")
    second.close()
    assert count_of(file) == 2
