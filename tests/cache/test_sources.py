from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gradcheck.cache.sources import source_files, sources_stamp

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_files_of_allowed_packages_and_no_others(tmp_path: Path) -> None:
    for name in ("p/__init__.py", "p/sub/a.py", "p/__pycache__/a.py", "p/data.txt", "q.py", "r.py"):
        write(tmp_path / name)
    found = [str(path.relative_to(tmp_path)) for path in source_files(("p.sub", "q"), tmp_path)]
    assert found == ["p/__init__.py", "p/sub/a.py", "q.py"]
    assert source_files(("installed",), tmp_path) == []


def test_the_stamp_changes_when_a_file_is_saved_added_or_removed(tmp_path: Path) -> None:
    write(tmp_path / "p/a.py", "1")
    stamps = [sources_stamp(("p",), tmp_path)]
    write(tmp_path / "p/b.py")
    stamps.append(sources_stamp(("p",), tmp_path))
    os.utime(tmp_path / "p/b.py", (1, 1))
    stamps.append(sources_stamp(("p",), tmp_path))
    (tmp_path / "p/b.py").unlink()
    assert len(set(stamps)) == 3
    assert sources_stamp(("p",), tmp_path) == stamps[0]
