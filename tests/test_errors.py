"""What an error says to a program: a code, a place and a remedy, the same as its message says to a person."""

import importlib
import pickle
import pkgutil
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coherently as co
from coherently.errors import CoherentlyError, ListedProblem, Where, summarise
from coherently.problem.spaces.states import TooManyStatesError
from coherently.solve.component.newton.limits import InfeasiblePinsError
from coherently.web.refusals import RefusedError

PANEL = co.Panel.from_records([("Ann", "p", 0.5)])
CODE = re.compile(r"[a-z]+(-[a-z]+)*")


def _kinds():
    """Every class of errors of the package."""
    for module in pkgutil.walk_packages(co.__path__, "coherently."):
        if ".migrations." not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = [], [CoherentlyError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found.append(kind)
    return found


def _refused(call):
    with pytest.raises(CoherentlyError) as caught:
        call()
    return caught.value


def test_every_kind_of_error_has_a_code_and_no_two_public_ones_share_it():
    kinds = _kinds()
    assert len(kinds) > 15
    assert all(CODE.fullmatch(kind.code) for kind in kinds)
    public = [getattr(co, name) for name in co.__all__ if name.endswith("Error")]
    assert len({kind.code for kind in public}) == len(public)


SPECIAL = (
    co.PanelError("wrong", code="odd", where=Where("a.csv", 3, "p", "x & y", (0, 1)), remedy="mend it"),
    co.PanelError.listing([ListedProblem("one", "odd", Where(row=1)), ListedProblem("two", "even")], 5, ["mend both"]),
    InfeasiblePinsError((1, 4)),
    TooManyStatesError(40),
    RefusedError(404, "not-found", "No.", where="body.x", allowed="less", headers={"Retry-After": "1"}),
)


@pytest.mark.parametrize(
    "error", [*(kind("a message") for kind in _kinds() if kind.__init__ is CoherentlyError.__init__), *SPECIAL]
)
def test_errors_survive_pickle_with_all_that_they_say(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
    assert copy.as_dict() == error.as_dict()


def test_an_error_without_a_list_is_its_own_only_problem():
    error = co.MethodError("no such thing", remedy="take another")
    assert error.problems == (ListedProblem("no such thing", "bad-option", None, "take another"),)


BAD_CELLS = [
    ("probability", 1.5, "bad-probability"),
    ("weight", -2, "bad-weight"),
    ("outcome", 7, "bad-outcome"),
]


@given(st.data())
def test_bad_cells_are_named_by_file_row_and_column(data):
    """A table of good cells with some bad ones: the error names exactly the bad ones of the first bad column."""
    count = data.draw(st.integers(2, 12), "rows")
    bad = data.draw(st.lists(st.integers(0, count - 1), unique=True, min_size=1).map(sorted))
    column, cell, code = data.draw(
        st.sampled_from(
            [("probability", 1.5, "bad-probability"), ("weight", -2, "bad-weight"), ("outcome", 7, "bad-outcome")]
        )
    )
    rows = [{"judge": "Ann", "event": f"e{i}", "probability": 0.5, "weight": 1.0, "outcome": 1} for i in range(count)]
    for row in bad:
        rows[row][column] = cell
    error = _refused(lambda: co.Panel.from_records(rows))
    assert error.code == code
    assert [problem.where for problem in error.problems] == [Where("records", row + 1, column) for row in bad]
    assert str(error).startswith(summarise([problem.message for problem in error.problems]))
    assert all(problem.remedy and problem.remedy.split(". ")[0] in str(error) for problem in error.problems)


def test_a_file_is_named_with_the_row_as_a_person_counts(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability\nAnn,p,0.2\n\nAnn,q,high\n")
    error = _refused(lambda: co.read_panel(file))
    assert (error.code, error.where) == ("bad-probability", Where("panel.csv", 4, "probability"))


@pytest.mark.parametrize(
    "text", ["p & & q", "p &", "(p", "p q", "heavy rain & wind", "p = 3", "é & & ü", "p given q given r"]
)
def test_the_span_of_an_event_begins_where_the_caret_points(text):
    for call in (
        lambda: co.Panel.from_records([("Ann", text, 0.5)]),
        lambda: co.aggregate(co.Panel.from_records([("Ann", "p", 0.5)])).probability(text),
    ):
        error = _refused(call)
        assert error.where.event == text
        first, end = error.where.span
        caret = str(error).split("\n")[2] if "(column" in str(error) else None
        assert caret is None or len(caret) - 4 == first + 1 <= len(text) + 1
        assert first <= end <= len(text)
        assert caret is None or first == len(text) or end > first


def test_laws_are_named_by_file_line_and_span(tmp_path):
    laws = tmp_path / "laws.txt"
    laws.write_text("# a comment\np -> q\n\nP(p &) = 0.3\n")
    error = _refused(lambda: co.Panel.from_records([("Ann", "p", 0.5)], laws=laws))
    assert (error.code, error.where) == ("bad-event", Where("laws.txt", 4, None, "P(p &) = 0.3", (5, 6)))


def test_contradictory_laws_list_a_problem_for_each_statement():
    error = _refused(lambda: co.Panel.from_records([("Ann", "p", 0.5)], laws=["p -> q", "r", "~q", "p"]))
    assert error.code == "contradictory-laws"
    assert [problem.where.row for problem in error.problems] == [1, 3, 4]
    assert [problem.where.event for problem in error.problems] == ["p -> q", "~q", "p"]


@pytest.mark.parametrize(
    ("call", "code", "remedy"),
    [
        (lambda: co.aggregate(PANEL, "exat"), "unknown-method", "Did you mean 'exact'?"),
        (lambda: co.aggregate(PANEL, loss="bier"), "unknown-loss", "Did you mean 'brier'?"),
        (lambda: co.Pool("medain"), "unknown-pool", "Did you mean 'median'?"),
        (
            lambda: co.AlternatingProjections(groups="trples").solve(None),
            "unknown-group-design",
            "Did you mean 'triples'?",
        ),
        (lambda: PANEL.judge("Anne"), "unknown-judge", None),
        (lambda: co.read_panel("nowhere.csv"), "no-such-file", "check the name and the folder"),
        (
            lambda: co.Panel.from_records([{"judge": "a", "evnt": "p", "probability": 0.5}]),
            "missing-column",
            "Did you mean 'evnt'? Rename it to 'event'.",
        ),
        (lambda: co.Result.from_json('{"format": 3}'), "bad-field", "it must be a text"),
        (lambda: co.Result.from_json("{"), "bad-json", "write it again, or correct that place"),
        (
            lambda: co.Panel.from_records([("a", "p", 0.5)] * 2, repeats="error"),
            "repeated-forecast",
            "Delete the repeats, or choose --repeats keep, last or mean.",
        ),
    ],
)
def test_important_errors_have_a_code_of_their_own(call, code, remedy):
    error = _refused(call)
    assert (error.code, error.remedy) == (code, remedy)


def test_outcomes_that_cannot_be_are_placed():
    error = _refused(lambda: co.Panel.from_records([("a", "p", 0.5)], laws=["p -> q"], outcomes={"p": 1, "q": 0}))
    assert error.code == "contradictory-outcomes"
    assert (error.where.file, error.where.row, error.where.event) == ("outcomes", 1, "p")


def test_pins_that_no_forecasts_satisfy_are_listed_one_by_one():
    panel = co.Panel.from_records(
        [("Ann", "p", 0.5)], laws=["P(p) >= 0.6", "P(q) = 0.1", "P(p & r) <= 1", "P(p) <= 0.4"]
    )
    error = _refused(lambda: co.aggregate(panel))
    assert error.code == "contradictory-laws"
    assert sorted(problem.where.event for problem in error.problems) == ["P(p) <= 0.4", "P(p) >= 0.6"]


def test_an_error_at_another_door_keeps_its_message_and_has_other_places():
    error = _refused(lambda: co.Panel.from_records([("Ann", "p", 2), ("Ann", "q", 3)]))
    moved = error.moved(lambda where: Where(field=f"body.{where.row}"))
    assert str(moved) == str(error)
    assert [problem.where.field for problem in moved.problems] == ["body.1", "body.2"]
    assert moved.where == Where(field="body.1")
    assert error.where.row == 1


def test_a_complaint_is_the_message_without_its_place():
    for rows, said in (
        ([("Ann", "p", 0.2), ("Ann", "q &", 0.3)], "expected an event after '&' (column 4)"),
        ([("Ann", "p", 1.2)], None),
    ):
        error = _refused(lambda rows=rows: co.Panel.from_records(rows))
        assert str(error).startswith(f"{error.where.words}: ") or str(error).startswith("records row")
        assert not error.complaint.startswith("records row")
        assert str(error).partition("\n")[0].endswith(error.complaint)
        assert said is None or error.complaint == said
    assert co.PanelError("nothing", where=co.Where("panel.csv")).complaint == "nothing"
    assert co.MethodError("nothing").complaint == "nothing"
