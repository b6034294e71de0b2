"""Where this machine gets its packages: the mirror of its apt sources, and what pip is told. No host is named here."""

import os
import re
from collections.abc import Iterator, Mapping
from configparser import RawConfigParser
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


@dataclass(frozen=True, slots=True)
class Mirror:
    """The address of an archive of Debian, and the file of keys that sign it, where the sources name one."""

    address: str
    keyring: str | None


def find_mirror(suite: str, folder: Path = Path("/etc/apt")) -> Mirror | None:
    """The first mirror of a suite's main component in the sources of a machine."""
    lists = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    for path in filter(Path.is_file, lists):
        text = path.read_text("utf-8", errors="replace")
        for fields in _paragraphs(text) if path.suffix == ".sources" else _lines(text):
            web = [address for address in fields["uris"].split() if address.startswith(("http:", "https:"))]
            if suite in fields["suites"].split() and "main" in fields["components"].split() and web:
                key = fields.get("signed-by", "")
                return Mirror(web[0], key if key.startswith("/") else None)
    return None


def _lines(text: str) -> Iterator[dict[str, str]]:
    """`deb [signed-by=FILE] ADDRESS SUITE COMPONENT...`, one source per line."""
    for line in text.splitlines():
        if match := re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line):
            options = dict(option.split("=", 1) for option in (match[1] or "").split() if "=" in option)
            yield {"uris": match[2], "suites": match[3], "components": match[4]} | options


def _paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Fields with their names, one source per paragraph; a line that begins with a space continues the field."""
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for paragraph in re.split(r"\n\s*\n", bare):
        joined = re.sub(r"\n[ \t]+", " ", paragraph)
        pairs = (line.partition(":") for line in joined.splitlines())
        fields = dict.fromkeys(("types", "uris", "suites", "components"), "")
        fields |= {name.strip().lower(): value.strip() for name, _, value in pairs}
        if "deb" in fields["types"].split() and fields.get("enabled", "yes").lower() != "no":
            yield fields


SETTINGS = frozenset({
    "index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "proxy", "cert", "client-cert", "timeout",
    "default-timeout", "retries",
})  # fmt: skip
"""What pip is told about where packages are and how they are reached; the rest is about this machine's own folders."""
PAGES = frozenset({"index-url", "extra-index-url"})
ENVIRONMENT = frozenset({"ssl_cert_file", "requests_ca_bundle", "http_proxy", "https_proxy", "all_proxy", "no_proxy"})


@dataclass(frozen=True, slots=True)
class PipSettings:
    """What pip is told by files and by the environment, and the folders and files of this machine that these name."""

    file: str
    environment: dict[str, str]
    folders: frozenset[Path]
    files: frozenset[Path]


def read_pip_settings(paths: list[Path], environment: Mapping[str, str]) -> PipSettings:
    """Put all that pip is told into one file, and the environment that goes with it."""
    told, kept = RawConfigParser(strict=False), RawConfigParser()
    told.read(paths, "utf-8")
    for section in told.sections():
        kept[section] = {name: value for name, value in told[section].items() if name in SETTINGS}
    variables = {name: value for name, value in environment.items() if _setting(name) in SETTINGS | ENVIRONMENT}
    named = [item for section in kept.sections() for item in kept[section].items()]
    named += [(_setting(name), value) for name, value in variables.items()]
    local = {path for name, value in named for word in value.split() for path in _local(name, word)}
    file = StringIO()
    kept.write(file)
    folders, files = frozenset(filter(Path.is_dir, local)), frozenset(filter(Path.is_file, local))
    return PipSettings(file.getvalue(), variables, folders, files)


def pip_files(environment: Mapping[str, str]) -> list[Path]:
    """The files that pip reads here, the last word last."""
    home = Path(environment.get("HOME", "/root"))
    user = Path(environment.get("XDG_CONFIG_HOME", home / ".config"))
    paths = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf"), home / ".pip/pip.conf", user / "pip/pip.conf"]
    return [*paths, Path(environment.get("PIP_CONFIG_FILE", os.devnull))]


def _setting(variable: str) -> str:
    """The setting of pip that a variable of the environment is, or the variable's own name."""
    name = variable.lower()
    return name.removeprefix("pip_").replace("_", "-") if name.startswith("pip_") else name


def _local(setting: str, word: str) -> list[Path]:
    """The path on this machine that a word of a setting names, if any."""
    if word.startswith("file:"):
        path = Path(url2pathname(urlsplit(word).path))
        # The pages of an index link to files beside them, as in ../../files/.
        return [path.parent if setting in PAGES and path.parent != Path("/") else path]
    return [Path(word)] if word.startswith("/") else []
