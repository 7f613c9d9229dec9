from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.run import describe
from gradcheck.run import environment as environment_module

if TYPE_CHECKING:
    import pytest


def test_versions_and_machine_are_told() -> None:
    environment = describe()
    assert environment["numpy"] == np.__version__
    assert environment["python"] == platform.python_version()
    assert {"gradcheck", "tensorflow", "platform", "processors"} <= environment.keys()
    assert all(isinstance(value, str) for value in environment.values())


def test_flags_are_told_only_when_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_XLA_FLAGS", raising=False)
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    environment = describe()
    assert environment["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert "TF_XLA_FLAGS" not in environment


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment_module, "PACKAGES", ("no-such-package-anywhere",))
    assert describe()["no-such-package-anywhere"] == "not installed"
