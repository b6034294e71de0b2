"""How the program ends when its output is closed or it is interrupted: real pipes, real signals."""

import os
import pty
import signal
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "coherently"]


@pytest.fixture
def panel(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("event,Ann,Bob\nrain,70%,60%\nrain & wind,NA,0.2\n")
    return file


def in_shell(command, *arguments):
    """Run a line of a shell in which "$@" is the program with arguments; returns its exit code and what it said."""
    done = subprocess.run(
        ["bash", "-c", command, "bash", *PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [["check", "{}"], ["aggregate", "{}", "--json"], ["simulate"], ["--help"]])
def test_a_reader_that_has_gone_is_exit_code_141_without_a_word(panel, arguments):
    filled = [argument.format(panel) for argument in arguments]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, *filled], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("arguments", [["aggregate", "{}"], ["aggregate", "{}", "--json"], ["simulate"], ["--version"]])
def test_a_closed_output_is_exit_code_141_with_a_message(panel, arguments):
    code, said = in_shell('"$@" >&-', *[argument.format(panel) for argument in arguments])
    assert code == 141
    assert said == "error: the standard output is closed, so nothing can be printed: write to a file with -o FILE\n"


def test_a_closed_output_does_not_matter_where_nothing_is_printed(panel):
    output = panel.with_name("out.csv")
    assert in_shell('"$@" >&-', "aggregate", panel, "-o", output) == (0, f"{output}: 2 rows written\n")
    assert output.read_text().startswith("event,probability")


def test_errors_keep_their_exit_code_where_nobody_listens(panel):
    assert in_shell('"$@" 2>&-', "aggregate", panel.with_name("none.csv"))[0] == 2
    assert in_shell('"$@" 2>&-', "aggregate", panel, "--method", "magic")[0] == 2
    assert in_shell('"$@" 2>&- | grep -q "^error" && exit 9; exit ${PIPESTATUS[0]}', "check", "none.csv")[0] == 2


def test_an_interruption_before_there_is_an_answer_says_so(tmp_path):
    source, output = tmp_path / "panel.csv", tmp_path / "out.csv"
    os.mkfifo(source)
    arguments = [*PROGRAM, "aggregate", source, "-o", output]
    with (
        subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running,
        source.open("w") as pipe,  # opens once the program has opened it to read
    ):
        pipe.write("event,Ann\n")
        pipe.flush()
        running.send_signal(signal.SIGINT)
        try:
            printed, said = running.communicate(timeout=20)
        except subprocess.TimeoutExpired:  # Python sees a signal that comes just before a read begins only after it
            running.send_signal(signal.SIGINT)
            printed, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert (printed, said) == ("", "error: interrupted before an answer was written\n")
    assert not output.exists()


@pytest.fixture
def terminal():
    """The two ends of a terminal: the program shows its bar only on one."""
    try:
        reader, writer = pty.openpty()
    except OSError as error:
        pytest.skip(f"there is no pseudo-terminal here ({error}): mount a devpts on /dev/pts")
    yield reader, writer
    os.close(reader)


def test_an_interrupted_method_writes_its_answer(tmp_path, terminal):
    panel, output = tmp_path / "panel.csv", tmp_path / "out.csv"
    simulated = [*PROGRAM, "simulate", "--judges", "300", "--variables", "100", "-q", "-o", panel]
    subprocess.run(simulated, check=True)
    arguments = [*PROGRAM, "aggregate", panel, "--method", "exact", "--time-limit", "600", "-o", output]
    reader, writer = terminal
    with subprocess.Popen(arguments, stderr=writer) as running:
        os.close(writer)
        said = b""
        while b"Aggregating" not in said:  # the bar that appears while the method works
            said += os.read(reader, 4096)
        running.send_signal(signal.SIGINT)
        while b"written" not in said:
            said += os.read(reader, 4096)
        running.wait()
    assert running.returncode == 130
    lines = output.read_text().splitlines()
    assert lines[0] == "event,probability,raw,weight,adjustment"
    assert len(lines) > 1000


def test_help_lists_the_exit_codes():
    shown = subprocess.run([*PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    for words in ("1 check found incoherence", "2 bad input", "130 interrupted", "141 the output was closed"):
        assert words in " ".join(shown.split())
