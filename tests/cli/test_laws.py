import pytest

from tests.cli.program import run


@pytest.fixture
def panel(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("judge,event,probability,outcome\nA,winner = Ann,0.7,1\nB,winner = Bob,0.6,\n")
    return file


def commands(panel):
    return [("aggregate", panel), ("check", panel), ("score", panel), ("bounds", panel, "winner = Ann")]


def test_contradictory_laws_have_their_own_exit_code(panel, tmp_path):
    laws = tmp_path / "clash.laws"
    laws.write_text("variable winner: Ann, Bob\nwinner = Ann\nwinner = Bob\n")
    for command in commands(panel):
        answer = run(*command, "--laws", laws, check=3)
        assert answer.stdout == ""
        assert answer.stderr.startswith("error: the laws contradict each other.")
        assert "  clash.laws line 2: winner = Ann\n" in answer.stderr


def test_laws_that_cannot_be_read_are_bad_input(panel, tmp_path):
    laws = tmp_path / "wrong.laws"
    laws.write_text("variable winner: Ann, Bob\n\nwinner = Cid -> tax\n")
    for command in commands(panel):
        assert run(*command, "--laws", laws, check=2).stderr.startswith(
            "error: wrong.laws line 3: Cid is not a value of"
        )


def test_score_with_declared_variables(panel, tmp_path):
    laws = tmp_path / "race.laws"
    laws.write_text("variable winner: Ann, Bob, Cid\n")
    shown = run("score", panel, "--laws", laws, "--quiet", check=0).stdout.splitlines()
    assert [line.split()[:3] for line in shown[1:3]] == [["A", "1", "0.0900"], ["B", "1", "0.3600"]]
