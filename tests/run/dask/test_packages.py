"""Whether two machines have the same files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gradcheck.model import Location, Target, TargetKind
from gradcheck.run.dask import packages
from gradcheck.run.dask.packages import difference, fingerprints, packages_of
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def make_package(root: Path, **files: str) -> str:
    (root / "planted_package").mkdir(parents=True)
    (root / "planted_package/__init__.py").write_text("raise ImportError('must not be imported')")
    for name, text in files.items():
        (root / f"planted_package/{name}.py").write_text(text)
    return str(root)


def test_the_same_files_elsewhere_are_the_same(tmp_path: Path) -> None:
    here = make_package(tmp_path / "a", layers="1", more="2")
    there = make_package(tmp_path / "b", layers="1", more="2")
    (tmp_path / "b/planted_package/__pycache__").mkdir()
    (tmp_path / "b/planted_package/__pycache__/layers.cpython-311.pyc").write_bytes(b"x")
    first = fingerprints(["planted_package"], here)
    assert len(first) == 3
    assert fingerprints(["planted_package"], there) == first
    assert difference(first, first) == ""
    assert "planted_package" not in sys.modules


def test_what_differs_is_named(tmp_path: Path) -> None:
    here = make_package(tmp_path / "a", layers="1", gone="2")
    there = make_package(tmp_path / "b", layers="2", new="2")
    (tmp_path / "a/planted_package/table.npy").write_bytes(b"1")
    (tmp_path / "b/planted_package/table.npy").write_bytes(b"2")
    found = difference(
        fingerprints(["planted_package"], here), fingerprints(["planted_package"], there)
    )
    assert found == (
        "planted_package/gone.py is missing there, planted_package/layers.py differs, "
        "planted_package/new.py is only there and 1 more"
    )


def test_a_single_module_and_one_that_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / "planted_module.py").write_text("x = 1")
    found = fingerprints(["planted_module", "planted_nowhere"], str(tmp_path))
    assert list(found) == ["planted_module.py"]


def test_the_root_comes_first_as_it_does_for_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = make_package(tmp_path / "a", layers="1")
    monkeypatch.syspath_prepend(make_package(tmp_path / "b", layers="2"))
    own = fingerprints(["planted_package"], here)
    assert own != fingerprints(["planted_package"], str(tmp_path))
    assert fingerprints(["planted_package"], str(tmp_path))


def test_a_package_of_very_many_files_is_looked_at_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "COMPARED_FILES", 2)
    here = make_package(tmp_path, a="1", b="2", c="3")
    assert len(fingerprints(["planted_package"], here)) == 2


def test_only_packages_that_are_called_count() -> None:
    place = Location("specs/a.yaml", 1, 1)
    texts = {
        TargetKind.FUNCTION: "mine.layers.deep:swish",
        TargetKind.LAYER: "other:Layer",
        TargetKind.OP: "exp",
        TargetKind.EXPR: "tf.exp(x)",
    }
    cases = [make_case(kind, target=Target(kind, text, place)) for kind, text in texts.items()]
    keras = Target(TargetKind.LAYER, "keras.layers.Dense", place)
    assert packages_of([*cases, make_case("keras", target=keras)]) == ("mine", "other")
