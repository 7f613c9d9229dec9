"""Modules in workers: what one does when it is imported costs that module alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.start.sightings import look_at_modules

if TYPE_CHECKING:
    from pathlib import Path


def test_a_module_that_takes_its_worker_along_costs_itself_alone(tmp_path: Path) -> None:
    package = tmp_path / "gc_mixed"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "crashes.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    (package / "leaves.py").write_text("import os\nos._exit(0)\n")
    (package / "raises.py").write_text("raise RuntimeError('no licence')\n")
    (package / "works.py").write_text("def f(x): return x\n")
    modules = [f"gc_mixed.{name}" for name in ("crashes", "works", "leaves", "raises")]
    seen = look_at_modules(modules, allow=["gc_mixed"], root=str(tmp_path), jobs=1)
    crashes, works, leaves, raises = seen
    assert [sighting.id for sighting in seen] == modules
    assert crashes.verdict is leaves.verdict is Verdict.CRASHED
    assert "SIGSEGV" in crashes.message
    assert "\n" not in crashes.message
    assert raises.verdict is Verdict.ERROR
    assert "no licence" in raises.message
    assert [found.target for found in works.found] == ["gc_mixed.works:f"]
    assert works.message == ""
