"""The log and the snapshot: nothing that was acknowledged is lost, and nothing that is damaged is believed."""

import gc
import json
import subprocess
import sys

import numpy as np
import pytest

import coherently as co
from coherently.live.kept import file_journal as journal
from coherently.live.kept import stored
from tests.live.log_checks import check_kills, digest, revise

ROWS = [("Ann", "p", 0.6), ("Bob", "p & q", 0.7), ("Ann", "r", 0.3)]


@pytest.fixture
def log(tmp_path):
    """A log with ten revisions, closed."""
    path, rng = tmp_path / "book.log", np.random.default_rng(1)
    with co.LivePanel(co.Panel.from_records(ROWS, laws=["q -> p"]), co.Exact(tolerance=1e-7), log=path) as live:
        while live.current().revision < 10:
            try:
                revise(live, rng)
            except co.CoherentlyError:
                continue
    return path


def opened(path):
    with co.LivePanel.open(path, background=False) as live:
        return live.current().revision, digest(live), live.note


def test_a_process_that_is_killed_loses_nothing_that_it_acknowledged():
    assert check_kills(0, 8) > 0


def test_a_log_replays_to_the_same_state(tmp_path):
    path, rng = tmp_path / "book.log", np.random.default_rng(3)
    panel = co.Panel.from_records(ROWS, laws=["q -> p"], labels={"p": "rain"})
    with co.LivePanel(panel, co.Exact(seed=7), co.Log(0.01), log=path, background=False) as live:
        for _ in range(60):
            try:
                revise(live, rng)
            except co.CoherentlyError:
                continue
        live.resolve("p", True)
        with co.LivePanel.open(_copied(path), background=False) as again:
            assert again.panel() == live.panel()
            assert again.panel().labels == {"p": "rain"}
            assert again.method == live.method
            assert again.settle().result().to_json() == live.settle().result().to_json()
            assert again.as_of(again._recorder.time).to_json() == live.as_of(live._recorder.time).to_json()


def _copied(path):
    other = path.with_name("copy.log")
    other.write_bytes(path.read_bytes())
    return other


def test_a_torn_last_record_is_cut_off_and_said(log):
    whole = log.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    before = whole[:start]
    log.write_bytes(before)
    number, state, note = opened(log)
    assert (number, note) == (9, None)
    for end in range(start + 1, len(whole)):
        log.write_bytes(whole[:end])
        assert opened(log) == (
            9,
            state,
            f"the last record, {end - start:,} bytes, was not written to its end and is cut off",
        )
        assert log.read_bytes() == before
    for hole in (slice(start, start + 9), slice(len(whole) - 5, len(whole)), slice(len(whole) - 9, len(whole) - 1)):
        holed = bytearray(whole)  # the disk has not written all of it yet
        holed[hole] = b"\0" * len(holed[hole])
        log.write_bytes(holed)
        assert opened(log)[:2] == (9, state)


def test_a_damaged_log_is_refused_at_the_line_of_the_damage(log):
    whole = log.read_bytes()
    lines = whole.split(b"\n")
    rng = np.random.default_rng(0)
    ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == ord("\n"))[:-1]
    for place in [*rng.choice(len(whole) - 1, 100, replace=False).tolist(), *ends.tolist()]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(5))  # no space becomes a 0, which is a hole
        log.write_bytes(damaged)
        with pytest.raises(co.PanelError, match=r"line [\d,]+ is damaged|is not a log of a live panel"):
            opened(log)
        assert log.read_bytes() == bytes(damaged)  # nothing is touched
    log.write_bytes(b"\n".join([*lines[:3], *lines[4:]]))  # a line is missing
    with pytest.raises(co.PanelError, match="line 4 is damaged; the 2 revisions before it are whole"):
        opened(log)


def test_a_log_of_a_newer_version_is_refused(log):
    head = log.read_bytes().split(b"\n")[0]
    record = {**json.loads(head[9:]), "version": 2}
    line, _ = journal._line(record, 0)
    log.write_bytes(line)
    with pytest.raises(co.PanelError, match="is a log of version 2; this version of Coherently reads version 1"):
        opened(log)
    line, _ = journal._line({**record, "format": "another"}, 0)
    log.write_bytes(line)
    with pytest.raises(co.PanelError, match="is not a log of a live panel"):
        opened(log)


def test_an_existing_log_is_not_begun_again_and_one_writer_is_enough(log):
    with pytest.raises(co.PanelError, match=r"exists: co.LivePanel.open\("):
        co.LivePanel(co.Panel.from_records(ROWS), log=log)
    with co.LivePanel.open(log), pytest.raises(co.PanelError, match="in use by another live panel"):
        co.LivePanel.open(log)
    with pytest.raises(co.PanelError, match="cannot be read: No such file"):
        co.LivePanel.open(log.with_name("other.log"))
    with pytest.raises(co.PanelError, match="cannot be written: No such file"):
        co.LivePanel(log=log.parent / "no folder" / "book.log")


FULL = """
import resource, sys
import coherently as co
live = co.LivePanel(co.Panel.from_records([("Ann", "p", 0.6)]), log=sys.argv[1], background=False)
size = len(open(sys.argv[1], "rb").read())
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300, resource.RLIM_INFINITY))
for n in range(10):
    try:
        live.revise("Ann", "p", n / 16)
    except co.PanelError as error:
        print(error)
        break
state = live.panel().probability.tolist(), live.current().revision
print(*state[0], state[1], live.settle().probability("p"))
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    live.snapshot(sys.argv[1] + ".snapshot")
except co.PanelError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(live.revise("Ann", "p", 0.875))
"""


def test_a_full_disk_refuses_a_revision_and_loses_nothing(tmp_path):
    log = tmp_path / "book.log"
    done = subprocess.run([sys.executable, "-c", FULL, str(log)], capture_output=True, text=True, check=True)
    error, state, snapshot, number = done.stdout.splitlines()
    assert error.startswith(f"the log {log} cannot be written: File too large. This revision is not recorded")
    assert error.endswith("make room, then try again")
    probability, revision, answer = state.split()
    assert probability == answer == str((int(revision) - 1) / 16)
    assert snapshot.startswith(f"the snapshot {log}.snapshot cannot be written: File too large; nothing is left behind")
    assert int(number) == int(revision) + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.log"]
    with co.LivePanel.open(log, background=False) as again:
        assert (again.current().revision, again.note) == (int(number), None)
        assert again.panel().probability.tolist() == [0.875]


def test_a_disk_that_does_not_keep_what_it_is_told_ends_the_log(log, monkeypatch):
    def fail(_):
        raise OSError(5, "Input/output error")

    with co.LivePanel.open(log, background=False) as live:
        before = digest(live)
        with monkeypatch.context() as patch:
            patch.setattr(journal.os, "fsync", fail)
            with pytest.raises(co.PanelError, match=r"Input/output error.*close this panel, make room on the disk"):
                live.add("Yan", "g", 0.5)
        with pytest.raises(co.PanelError, match="cannot be written any more"):
            live.add("Yan", "g", 0.5)
        assert digest(live) == before
    assert opened(log)[:2] == (10, before)


def test_a_snapshot_brings_everything_back(log, tmp_path):
    snapshot = tmp_path / "book.snapshot"
    with co.LivePanel.open(log, background=False) as live:
        live.snapshot(snapshot)
        answer, first = live.settle().result().to_json(), live.as_of(0).to_json()
        with co.LivePanel.restore(snapshot, background=False) as again:
            assert again.settle().result().to_json() == answer
            assert again.as_of(0).to_json() == first
        live.add("Yan", "g", 0.5)
        live.revise("Yan", "g", 0.7)
        answer = live.settle().result().to_json()
    with co.LivePanel.restore(snapshot, log=log, background=False) as again:
        assert again.current().revision == 12
        assert again.settle().result().to_json() == answer
        again.withdraw("Yan", "g")
    assert opened(log)[0] == 13
    with co.LivePanel.restore(snapshot, log=tmp_path / "new.log", background=False) as again:
        again.add("Yan", "h", 0.5)
        state = digest(again)
    assert opened(tmp_path / "new.log")[:2] == (1, state)
    with pytest.raises(co.PanelError, match="is not the log of the snapshot"):
        co.LivePanel.restore(snapshot, log=tmp_path / "new.log")
    log.write_bytes(b"\n".join(log.read_bytes().split(b"\n")[:5]) + b"\n")
    with pytest.raises(co.PanelError, match="is not the log of the snapshot"):
        co.LivePanel.restore(snapshot, log=log)


def test_a_damaged_snapshot_is_refused(log, tmp_path):
    snapshot = tmp_path / "book.snapshot"
    with co.LivePanel.open(log, background=False) as live:
        live.snapshot(snapshot)
    whole = snapshot.read_bytes()
    rng = np.random.default_rng(0)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        snapshot.write_bytes(damaged)
        with pytest.raises(co.PanelError, match=r"is damaged|is not a snapshot|is a snapshot of version"):
            stored.read_snapshot(snapshot)
    for end in range(0, len(whole), 7):
        snapshot.write_bytes(whole[:end])
        with pytest.raises(co.PanelError, match=r"is damaged|is not a snapshot"):
            co.LivePanel.restore(snapshot)
    with pytest.raises(co.PanelError, match="cannot be read: No such file"):
        co.LivePanel.restore(tmp_path / "none")


def test_a_snapshot_of_a_newer_version_is_refused(log, tmp_path):
    snapshot = tmp_path / "book.snapshot"
    with co.LivePanel.open(log, background=False) as live:
        live.snapshot(snapshot)
    snapshot.write_bytes(snapshot.read_bytes().replace(b'"version":1', b'"version":2', 1))
    with pytest.raises(co.PanelError, match="is a snapshot of version 2; this version of Coherently reads version 1"):
        co.LivePanel.restore(snapshot)


def test_a_loss_of_your_own_cannot_be_kept_in_a_file(tmp_path):
    class Own(co.Brier):
        name = "own"

    with pytest.raises(co.MethodError, match="cannot be kept in a file"):
        co.LivePanel(co.Panel.from_records(ROWS), loss=Own(), log=tmp_path / "book.log")
    assert not list(tmp_path.iterdir())


def test_a_revision_that_cannot_be_done_again_is_named_and_the_log_is_free(log):
    lines = log.read_bytes().split(b"\n")[:-1]
    checksum = int(lines[-1][:8], 16)
    more, _ = journal._line({"act": "withdraw", "time": 4e9, "judge": "Ann", "event": "zz"}, checksum)
    log.write_bytes(b"\n".join(lines) + b"\n" + more)
    for _ in range(2):
        with pytest.raises(co.PanelError, match="revision 11 of the log cannot be done again: Ann has no forecast of"):
            opened(log)


def test_a_panel_that_nobody_holds_lets_go_of_its_log(log):
    live = co.LivePanel.open(log)
    live.add("Yan", "g", 0.5)
    del live
    gc.collect()
    assert opened(log)[0] == 11
