from __future__ import annotations

import signal
from pathlib import Path

import pytest

import gradcheck
from gradcheck.run.workers.crash_message import SHOWN_LINES, SHOWN_WIDTH, death_message, last_words

OURS = Path(gradcheck.__file__).parent

CRASH = f"""\
I0000 something was loaded
E0000 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error
F0000 tensor.cc:12] Check failed: dims == 2 (3 vs. 2)
*** Check failure stack trace: ***
    @     0x7f0000000000  absl::LogMessageFatal
Fatal Python error: Aborted

Current thread 0x00007f (most recent call first):
  File "/x/site-packages/tensorflow/python/eager/execute.py", line 53 in quick_execute
  File "/home/me/mypkg/layers.py", line 7 in swish
  File "{OURS}/checker/analytic.py", line 9 in tape
  File "/x/lib/python3.11/multiprocessing/process.py", line 108 in run
  File "<string>", line 1 in <module>

Extension modules: numpy._core, and ninety more (total: 91)
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-signal.SIGABRT, "SIGABRT"),
        (-signal.SIGSEGV, "SIGSEGV"),
        (-signal.SIGKILL, "SIGKILL: killed, perhaps out of memory"),
        (-signal.SIGTERM, "SIGTERM"),
        (-1000, "signal 1000"),
        (0, "exit code 0"),
        (3, "exit code 3"),
        (None, "closed its connection"),
    ],
)
def test_the_exit_code_is_named(code: int | None, words: str) -> None:
    assert (
        death_message(code).endswith(words) or f"{words}: " in death_message(code) or code is None
    )
    assert words in death_message(code)


def test_only_what_tells_the_author_something_is_kept() -> None:
    assert last_words(CRASH) == [
        "I0000 something was loaded",
        "F0000 tensor.cc:12] Check failed: dims == 2 (3 vs. 2)",
        'File "/home/me/mypkg/layers.py", line 7 in swish',
    ]


def test_where_a_case_was_that_did_not_end() -> None:
    stack = CRASH.partition("Current thread")[2].partition("\n")[2]
    assert last_words(f"step 3\nStack (most recent call first):\n{stack}") == [
        "step 3",
        'File "/home/me/mypkg/layers.py", line 7 in swish',
    ]


def test_of_much_output_the_end_is_kept() -> None:
    lines = [f"line {number}" for number in range(100)]
    assert last_words("\n".join(lines)) == lines[-SHOWN_LINES:]


def test_endless_lines_are_cut() -> None:
    assert last_words("x" * 10_000) == ["x" * SHOWN_WIDTH]


def test_silence_has_no_words() -> None:
    assert last_words("\n  \n") == []
