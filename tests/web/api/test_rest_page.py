"""The page on the REST API says what works: its commands are run."""

import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/reference/rest.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples need curl")
def test_the_commands_of_the_page_work(service, tmp_path):
    blocks = re.findall(r"```(bash|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    script = ["set -euo pipefail"]
    for kind, block in blocks:
        script.append(block if kind == "bash" else f"python3 - <<'END'\n{block}\nEND")
    text = "\n".join(script).replace("http://127.0.0.1:8420", service.url).replace("python3", f"'{sys.executable}'")
    (tmp_path / "page.sh").write_text(text)
    ended = threading.Event()

    def work():
        while not ended.is_set():
            service.work()
            time.sleep(0.1)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        done = subprocess.run(
            ["bash", "page.sh"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )
    finally:
        ended.set()
        worker.join()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cannot be likelier than" in done.stdout
    assert re.search(r"rain & wind,rain & wind,0\.(3|29{9})", done.stdout)
    assert "<h1" in (tmp_path / "report.html").read_text()
