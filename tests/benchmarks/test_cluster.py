from __future__ import annotations

import os
import subprocess
import sys
import time

from benchmarks.cluster import Run, _told, used, with_descendants


def test_what_counts_is_the_ratio_of_a_round() -> None:
    here, there = Run(10.0, 20.0, 5.0, {"results": []}), Run(12.0, 25.0, 6.0, {"results": []})
    other = there._replace(report={"results": [1]})
    told = _told([(here, there), (here, other), (there, there)], "2", 3_000)
    lines = told.splitlines()
    assert lines[2] == "| 1 | 20.0 | 25.0 | 1.25 | 1.20 | 5.0 | 6.0 | yes |"
    assert lines[3].endswith("| NO |")
    assert lines[-1] == "median ratio 1.25, of processor time 1.20"


def test_processor_time_of_all_below_a_process_is_counted() -> None:
    spin = "import time\nwhile time.process_time() < 0.4: pass\n"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}]); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while sum(map(used, with_descendants([process.pid]))) < 0.3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sum(map(used, with_descendants([process.pid]))) >= 0.3
    process.communicate(b"\n")
    assert os.getpid() in with_descendants([os.getppid()])
