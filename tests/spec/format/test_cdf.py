"""The distribution function of a sample, in a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.spec import load

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """
expr: tf.random.stateless_gamma([4], [1, 2], alpha)
inputs: {alpha: [4]}
cdf: CDF
"""


def loaded(tmp_path: Path, cdf: str) -> list[str]:
    """The problems of a spec with this distribution function."""
    path = tmp_path / "gamma.yaml"
    path.write_text(SPEC.replace("CDF", cdf), encoding="utf-8")
    found = load([str(path)])
    assert [case.cdf for case in found.cases] == ([] if found.problems else [cdf])
    return [f"{problem.message}; {problem.hint}" for problem in found.problems]


def test_it_is_an_expression_over_the_sample_and_the_inputs(tmp_path: Path) -> None:
    assert loaded(tmp_path, "tf.math.igamma(alpha, out)") == []


def test_another_name(tmp_path: Path) -> None:
    (problem,) = loaded(tmp_path, "tf.math.igamma(alpa, out)")
    assert "did you mean `alpha`" in problem


def test_what_is_not_allowed(tmp_path: Path) -> None:
    (problem,) = loaded(tmp_path, "tf.io.read_file(out)")
    assert "tf.io.read_file" in problem
