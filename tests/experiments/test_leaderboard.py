"""Folders of the leaderboard: written, read, refused where they leak; methods by name, from files and functions."""

import json
import sys

import numpy as np
import pytest

import coherently as co
from coherently.errors import MethodError, PanelError
from experiments.leaderboard.__main__ import main, simulate_board
from experiments.leaderboard.board_folder import REPOSITORY, read_board, write_board
from experiments.leaderboard.entrants import DEFAULT, Entrant, find_entrant
from experiments.leaderboard.standings import scored


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return simulate_board(tmp_path_factory.mktemp("boards") / "simulated")


def test_a_folder_comes_back_as_it_was_written(folder):
    board = read_board(folder)
    assert (len(board.panel.judges), len(board.panel.written), board.over) == (8, 72, "components")
    assert set(board.clusters.values()) == {f"g{g}" for g in range(24)}
    assert board.folds == (0, 1, 2, 3, 4)
    split = {row.split(",")[0]: int(row.split(",")[1]) for row in (folder / "split.csv").read_text().split()[1:]}
    assert [split[text] for text in board.panel.written.text] == board.fold.tolist()
    (folder / "split.csv").rename(folder / "other.csv")
    again = read_board(folder).fold
    (folder / "other.csv").rename(folder / "split.csv")
    assert again.tolist() == board.fold.tolist()


def test_what_teaches_for_a_fold_has_no_outcome_of_it(folder):
    board = read_board(folder)
    for fold in board.folds:
        outcome = board.taught(fold).written.outcome
        assert (outcome[board.fold == fold] < 0).all()
        assert (outcome[board.fold != fold] == board.panel.written.outcome[board.fold != fold]).all()
    assert (board.untaught().written.outcome < 0).all()


def test_over_time_only_earlier_folds_teach(tmp_path):
    rows = [
        {"judge": j, "event": f"e{i}", "probability": 0.3 + 0.02 * i, "time": float(i)} for i in range(20) for j in "AB"
    ]
    panel = co.Panel.from_records(rows, outcomes={f"e{i}": i % 2 for i in range(20)})
    board = read_board(write_board(tmp_path / "timed", panel, over="time"))
    fold = board.fold
    assert (np.diff(fold) >= 0).all()
    for k in board.folds:
        assert ((board.taught(k).written.outcome >= 0) == (fold < k)).all()


def test_scores_are_those_of_the_library(folder):
    board = read_board(folder)
    words = ("linear", "median", "median+exact", "exact")
    found = scored(board, [find_entrant(word) for word in words])
    methods = {"median": "median", "median+exact": co.Pool("median", then=co.Exact())}
    expected = co.compare(board.panel, methods, cluster=board.clusters)
    place = [expected.methods.index(name) for name in ("Linear average", "median", "median+exact", "Aggregate (exact)")]
    np.testing.assert_allclose(found.value, expected.value[place], atol=1e-7)
    assert found.variables == expected.variables == 24


def test_the_literature_is_fitted_as_in_compare(folder):
    board = read_board(folder)
    rivals = {rival.word + ("" if rival.then is None else "+exact"): rival for rival in co.literature()}
    found = scored(board, [find_entrant(word) for word in rivals])
    expected = co.compare(board.panel, rivals, cluster=board.clusters, bootstrap=0)
    np.testing.assert_allclose(found.value[:, 0], expected.value[5:, 0], atol=1e-6)


def test_a_function_is_asked_once_for_every_fold_and_sees_no_outcome_of_it(folder, tmp_path, monkeypatch):
    seen = []

    def peeking(panel, clusters):
        seen.append((panel.written.outcome.copy(), dict(clusters)))
        outcome = panel.written.outcome
        return np.where(outcome >= 0, outcome, 0.5)

    board = read_board(folder)
    found = scored(board, [Entrant("peeking", peeking), find_entrant("linear")])
    assert len(seen) == 5
    assert seen[0][1] == dict(board.clusters)
    assert found.value[0, 0] == pytest.approx(0.25)  # it knows nothing of what is scored
    (tmp_path / "own_method.py").write_text("def half(panel, clusters):\n    return [0.5] * len(panel.written.text)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert scored(board, [find_entrant("own_method:half")]).value[0, 0] == pytest.approx(0.25)
    sys.modules.pop("own_method")


def test_a_file_of_forecasts_is_scored(folder, tmp_path):
    board = read_board(folder)
    rows = [f"{text},{y}" for text, y in zip(board.panel.written.text, board.panel.written.outcome, strict=True)]
    (tmp_path / "oracle.csv").write_text("\n".join(["event,probability", *rows]))
    found = scored(board, [find_entrant(str(tmp_path / "oracle.csv"))])
    assert found.methods == ("oracle",)
    assert found.value[0, 0] == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "panel.csv").unlink(), "it needs panel.csv and outcomes.csv"),
        (lambda folder: (folder / "split.csv").write_text("event,fold\ng0_a,0\ng0_c,1\n"), "outcomes would leak"),
        (lambda folder: (folder / "split.csv").write_text("event,fold\ng0_a,0\n"), "fewer than two folds"),
        (lambda folder: (folder / "split.csv").write_text("event,fold\ng0_a,one\n"), "fold is 'one'"),
        (lambda folder: (folder / "split.csv").write_text("event\ng0_a\n"), "must have the columns event and fold"),
        (lambda folder: (folder / "board.json").write_text('{"format": "other"}'), "coherently-board"),
        (
            lambda folder: (folder / "board.json").write_text(
                json.dumps({"format": "coherently-board", "version": 1, "over": "space"})
            ),
            "over is 'space'",
        ),
    ],
)
def test_folders_that_do_not_fit_are_refused(tmp_path, change, message):
    folder = simulate_board(tmp_path / "simulated")
    change(folder)
    with pytest.raises(PanelError, match=message):
        read_board(folder)


def test_wrong_methods_are_refused(folder):
    board = read_board(folder)
    with pytest.raises(MethodError, match="nowhere:at_all was not found"):
        find_entrant("nowhere:at_all")
    with pytest.raises(MethodError, match="only \\+exact may follow"):
        find_entrant("median+dykstra")
    with pytest.raises(MethodError, match="one probability for each of the 72 events"):
        scored(board, [Entrant("short", lambda *_: [0.5])])
    with pytest.raises(MethodError, match="outside 0 to 1"):
        scored(board, [Entrant("loud", lambda *_: [1.5] * 72)])


def test_data_are_never_written_into_the_repository():
    with pytest.raises(PanelError, match="lies in the repository"):
        write_board(REPOSITORY / "data", co.Panel.from_records([("A", "p", 0.5)], outcomes={"p": 1}))


def test_the_command_prints_a_table_for_each_folder_and_one_for_all(folder, tmp_path, capsys):
    other = simulate_board(tmp_path / "second")
    main([str(folder), str(other), "--only", "--method", "exact"])
    said = capsys.readouterr().out
    assert "## simulated" in said
    assert "| exact | " in said
    assert "## Change of the Brier score against linear" in said
    with pytest.raises(SystemExit, match="is not a folder of the leaderboard"):
        main([str(tmp_path / "none")])
    assert "tuned" in DEFAULT
