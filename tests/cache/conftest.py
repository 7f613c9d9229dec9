from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cache.project import Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
