"""Run a step of the set-up: `python setup/step.py FOLDER COMMAND...`, where the command changes the folder.

While the command runs, and for good if it fails or is stopped in any way, the folder has a file `unfinished`; the
Makefile makes such a folder again from nothing. If the command fails, one sentence says why and what to do. Only the
standard library is used: nothing is installed yet.
"""

import re
import subprocess
import sys
from pathlib import Path

UNREACHED = (
    r"(NameResolutionError|NewConnectionError|Temporary failure in name resolution|ConnectTimeoutError|ReadTimeoutError"
    r"|ProxyError|Network is unreachable|Connection refused|Connection reset|Connection aborted)"
)
# pip warns of a connection that it gets at the second attempt, too; one that it never gets, it gives up in these words.
GIVEN_UP = r"(?:No matching distribution found|Could not install packages|Max retries exceeded|Read timed out)"
REASONS = (
    (
        r"(No space left on device|Disk quota exceeded)",
        "there is no space left",
        "free some, here or in the folder for temporary files (TMPDIR names another)",
    ),
    (
        r"(?i)(certificate.verify.failed)",
        "pip does not trust the certificate of its package index",
        "name the file with the certificates to trust (PIP_CERT)",
    ),
    (
        rf"(?s){UNREACHED}.*{GIVEN_UP}",
        "pip could not reach its package index",
        "connect this machine to the network, or name a proxy or another index (PIP_PROXY, PIP_INDEX_URL)",
    ),
    (
        r"(Permission denied|Read-only file system)",
        "a file could not be written",
        "run make as the owner of this folder, or on a copy of your own",
    ),
)
"""What a command that fails has printed, what that means, and what to do; the first that fits."""


def explain(output: str) -> str | None:
    """The sentence for a known reason, with the words that gave it away."""
    for pattern, meaning, remedy in REASONS:
        if match := re.search(pattern, output):
            return f"{meaning} ({match[1]}): {remedy}, then run the same command again."
    return None


def run(folder: Path, command: list[str]) -> int:
    """Run a command that changes a folder; what it returns."""
    marker = folder / "unfinished"
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode == 0:
        sys.stdout.write(done.stdout)
        marker.unlink()
        return 0
    reason = explain(done.stdout)
    if reason is None:
        sys.stderr.write(done.stdout)
        reason = f"{' '.join(command[:3])} failed, for the reason above: mend that, then run the same command again."
    sys.stderr.write(f"error: {reason}\n")
    return 1


def main() -> int:
    """Run what the command line says."""
    try:
        return run(Path(sys.argv[1]), sys.argv[2:])
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stderr.write(f"error: {explain(str(error)) or error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
