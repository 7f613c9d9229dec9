from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Gradcheck


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_what_a_shell_reads_names_the_command(gradcheck: Gradcheck, shell: str) -> None:
    said = gradcheck("completion", shell)
    assert said.code == 0
    assert f"_GRADCHECK_COMPLETE={shell}_complete" in said.out


@pytest.mark.parametrize(
    ("words", "place", "offered"),
    [
        ("gradcheck val", "1", "validate"),
        ("gradcheck run --maxf", "2", "--maxfail"),
        ("gradcheck guide 03", "2", "03-matmul"),
        ("gradcheck guide matm", "2", "matmul"),
    ],
)
def test_a_shell_is_told_what_may_come_next(
    gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch, words: str, place: str, offered: str
) -> None:
    monkeypatch.setenv("_GRADCHECK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", place)
    said = gradcheck()
    assert (said.code, said.out) == (0, f"plain,{offered}\n")


def test_an_unknown_instruction_is_2(gradcheck: Gradcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GRADCHECK_COMPLETE", "tcsh_complete")
    assert gradcheck().code == 2
