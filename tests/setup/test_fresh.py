"""What `make fresh` takes from the machine, and that it deletes nothing while something is mounted."""

import subprocess
from pathlib import Path

import pytest

from setup import roots
from setup.fresh import FailedError, Person, ask
from setup.roots import MountedError, Root, delete, mounts_in
from setup.sources import Mirror, find_mirror, pip_files, read_pip_settings


def apt(tmp_path, name, text):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    return tmp_path


def test_the_mirror_of_a_list_of_lines(tmp_path):
    text = (
        "# deb http://commented.example/debian bookworm main\n"
        "deb-src http://source.example/debian bookworm main\n"
        "deb http://security.example/debian bookworm-security main\n"
        "deb http://other.example/debian bookworm contrib\n"
        "deb cdrom:[Debian]/ bookworm main\n"
        "deb [arch=amd64 signed-by=/Keys/debian.gpg] https://mirror.example/debian bookworm main contrib # ours\n"
    )
    folder = apt(tmp_path, "sources.list", text)
    assert find_mirror("bookworm", folder) == Mirror("https://mirror.example/debian", "/Keys/debian.gpg")
    assert find_mirror("trixie", folder) is None


def test_the_mirror_of_paragraphs(tmp_path):
    text = (
        "Types: deb\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\nEnabled: no\n\n"
        "Types: deb-src\nURIs: http://source.example/debian\nSuites: bookworm\nComponents: main\n\n"
        "Types: deb deb-src\n# a comment\nURIs: http://mirror.example/debian\n"
        "Suites: bookworm\n bookworm-updates\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n"
    )
    folder = apt(tmp_path, "sources.list.d/debian.sources", text)
    assert find_mirror("bookworm", folder) == Mirror("http://mirror.example/debian", None)
    assert find_mirror("bookworm", tmp_path / "nowhere") is None


def test_pip_is_told_where_packages_are_and_nothing_else(tmp_path):
    index, wheels, certificate = tmp_path / "index/simple", tmp_path / "wheels", tmp_path / "authority.pem"
    index.mkdir(parents=True)
    wheels.mkdir()
    certificate.touch()
    first, second = tmp_path / "first.conf", tmp_path / "second.conf"
    first.write_text("[global]\nindex-url = https://first.example/simple\nuser = yes\ntimeout = 5\n")
    second.write_text(
        f"[global]\nindex-url = https://second.example/simple\nextra-index-url =\n  file://{index}\n  https://x.example\n"
    )
    environment = {
        "PIP_FIND_LINKS": f"{wheels} /not/there",
        "PIP_CERT": str(certificate),
        "PIP_CACHE_DIR": "/cache",
        "https_proxy": "http://proxy.example:3128",
        "SECRET": "kept here",
    }
    settings = read_pip_settings([first, tmp_path / "missing.conf", second], environment)
    again = tmp_path / "again.conf"
    again.write_text(settings.file)
    assert read_pip_settings([again], environment) == settings
    assert "second.example" in settings.file
    assert "timeout = 5" in settings.file
    assert "first.example" not in settings.file
    assert "user" not in settings.file
    assert settings.environment.keys() == {"PIP_FIND_LINKS", "PIP_CERT", "https_proxy"}
    assert settings.folders == {index.parent, wheels}  # the pages of an index link to files beside them
    assert settings.files == {certificate}


def test_the_files_of_pip_end_with_the_one_that_is_named():
    files = pip_files({"HOME": "/home/ann", "PIP_CONFIG_FILE": "/mine.conf"})
    assert files[-3:] == [Path("/home/ann/.pip/pip.conf"), Path("/home/ann/.config/pip/pip.conf"), Path("/mine.conf")]


TABLE = r"""
21 1 0:19 / / rw - ext4 /dev/disk rw
22 21 0:20 / /tmp/fresh/plain/proc rw - proc proc rw
23 21 0:21 / /tmp/fresh/my\040own/dev/shm rw - tmpfs tmpfs rw
24 21 0:22 / /tmp/fresher/proc rw - proc proc rw
""".strip()


def test_mounts_are_found_below_a_folder_and_not_beside_it():
    places = [Path("/tmp/fresh/plain/proc"), Path("/tmp/fresh/my own/dev/shm")]
    assert mounts_in(Path("/tmp/fresh"), TABLE) == places
    assert mounts_in(Path("/tmp/fresh/plain/proc"), TABLE) == places[:1]
    assert mounts_in(Path("/tmp/fresh/my own"), TABLE) == places[1:]
    assert mounts_in(Path("/tmp/fresh/plai"), TABLE) == []


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A folder with mounts that are only said to be there; umount takes the first `ends` of them away."""
    folder = tmp_path / "root"
    (folder / "proc").mkdir(parents=True)
    (folder / "proc/file").touch()
    left, called, run = [folder / "proc", folder / "opt"], [], subprocess.run

    def stand_in(command, **options):
        called.append(command[0])
        if command[0] != "umount":
            return run(command, **options)
        if command[1] not in stand_in.busy:
            left.remove(command[1])
        return None

    stand_in.busy = []
    monkeypatch.setattr(roots, "mounted_in", lambda _: list(left))
    monkeypatch.setattr(roots.subprocess, "run", stand_in)
    monkeypatch.setattr(roots.time, "sleep", lambda _: None)
    return folder, stand_in, called


def test_mounts_are_undone_before_anything_is_deleted(system):
    folder, _, called = system
    delete(folder)
    assert called == ["umount", "umount", "rm"]
    assert not folder.exists()


def test_nothing_is_deleted_while_a_mount_remains(system):
    folder, stand_in, called = system
    stand_in.busy = [folder / "proc"]
    with pytest.raises(MountedError, match=f"{folder} is kept, since something is still mounted there: {folder}/proc"):
        delete(folder)
    assert "rm" not in called
    assert (folder / "proc/file").exists()


class Told(Root):
    """A root in which a command prints and makes what a test says."""

    def run(self, command, user="root", folder="/"):
        assert (command, user, folder) == ("make demo", "ann", "/home/ann/tree")
        return int(self.environment["code"]), self.environment["printed"]


@pytest.mark.parametrize(
    ("code", "printed", "made", "complaint"),
    [
        (2, "error: missing: g++. Run as root `apt-get install g++`, then again.\nmake: Error", None, None),
        (0, "error: missing: g++. Run as root `apt-get install g++`.\n", None, "did not say in one sentence"),
        (2, "error: no\nerror: Run as root `apt-get install g++`.\n", None, "did not say in one sentence"),
        (2, "ensurepip is not available", None, "did not say in one sentence"),
        (2, "error: missing: g++. Run as root `apt-get install g++`.\n", ".venv", "made .venv before it looked"),
    ],
)
def test_somebody_who_may_not_install_must_be_told_what_to_run(tmp_path, code, printed, made, complaint):
    if made:
        (tmp_path / "home/ann/tree" / made).mkdir(parents=True)
    root, ann = Told(tmp_path, {"code": str(code), "printed": printed}), Person("ann", "/home/ann/tree")
    if complaint is None:
        assert ask(root, ann, "demo") == "apt-get install g++"
    else:
        with pytest.raises(FailedError, match=complaint):
            ask(root, ann, "demo")
