"""The durable state of a node: what was saved comes back, or is refused."""

import os

import pytest

import coherently as co
from coherently.network.peers import keys, state_file
from coherently.network.peers.state_file import StateFile

RUN = "00" * 16


def saved(path, *states):
    file = StateFile(path, RUN)
    for state in states:
        file.save(state)
    file.close()


def read(path, run=RUN):
    file = StateFile(path, run)
    file.close()
    return file.state


def test_the_last_state_comes_back(tmp_path):
    path = tmp_path / "ann.state"
    saved(path)
    assert read(path) is None
    saved(path, {"value": [0.1]}, {"value": [1 / 3]})
    assert read(path) == {"value": [1 / 3]}
    saved(path, {"value": [0.5]})
    assert read(path) == {"value": [0.5]}


def test_it_is_on_the_disk_before_save_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    file = StateFile(tmp_path / "ann.state", RUN)
    synced.clear()
    file.save({"a": 1})
    assert synced == [(tmp_path / "ann.state").stat().st_size]
    file.save({"a": 1})
    assert len(synced) == 1, "an equal state needs no disk"
    file.close()


def test_a_line_that_was_not_finished_is_cut_off_wherever_it_ends(tmp_path):
    path = tmp_path / "ann.state"
    saved(path, {"a": 1})
    whole = path.read_bytes()
    saved(path, {"a": 2})
    longer = whole + path.read_bytes().split(b"\n")[-2] + b"\n"
    for end in range(len(whole), len(longer)):
        path.write_bytes(longer[:end])
        assert read(path) == {"a": 1}
    path.write_bytes(longer)
    assert read(path) == {"a": 2}
    path.write_bytes(whole + bytes(30) + b"\n")
    assert read(path) == {"a": 1}


def test_damage_is_refused_wherever_it_is(tmp_path):
    path = tmp_path / "ann.state"
    saved(path, {"a": 1})
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(co.NetworkError):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(co.NetworkError, match="not the state of a node"):
        read(path)


def test_the_state_of_another_run_or_version_is_refused(tmp_path):
    path = tmp_path / "ann.state"
    saved(path, {"a": 1})
    with pytest.raises(co.NetworkError, match="another run"):
        read(path, "11" * 16)
    path.write_bytes(state_file._line({"format": state_file.FORMAT, "version": 2, "run": RUN}))
    with pytest.raises(co.NetworkError, match="version 2"):
        read(path)


def test_two_processes_cannot_be_the_same_node(tmp_path):
    first = StateFile(tmp_path / "ann.state", RUN)
    with pytest.raises(co.NetworkError, match="another process"):
        StateFile(tmp_path / "ann.state", RUN)
    first.close()
    StateFile(tmp_path / "ann.state", RUN).close()


def test_a_file_that_has_grown_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(state_file, "LARGEST", 1_000)
    path = tmp_path / "ann.state"
    file = StateFile(path, RUN)
    for number in range(200):
        file.save({"number": number})
        assert path.stat().st_size <= 1_000
    file.close()
    assert read(path) == {"number": 199}


def test_a_full_disk_stops_the_node(tmp_path, monkeypatch):
    file = StateFile(tmp_path / "ann.state", RUN)

    def full(_handle, _data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(co.NetworkError, match="No space left"):
        file.save({"a": 1})


def test_keys_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    with pytest.raises(co.NetworkError, match="need a shared key"):
        keys.read_key(None)
    file = tmp_path / "network.key"
    keys.write_key(file)
    assert len(keys.read_key(file)) == 64
    assert file.stat().st_mode & 0o077 == 0
    monkeypatch.setenv(keys.VARIABLE, "s" * 40)
    assert keys.read_key(None) == b"s" * 40
    monkeypatch.setenv(keys.VARIABLE, "short")
    with pytest.raises(co.NetworkError, match="5 characters"):
        keys.read_key(None)
    with pytest.raises(co.NetworkError, match="cannot be read"):
        keys.read_key(tmp_path / "absent")
