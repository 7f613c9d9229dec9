from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

from gradcheck.run import describe, threads
from gradcheck.run import environment as environment_module
from gradcheck.run.environment import decisive


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


def test_what_changes_no_result_is_not_compared() -> None:
    here = describe() | {"seed": "3", "platform": "Linux-6.1.0-13-amd64-x86_64-with-glibc2.36"}
    there = here | {
        "seed": "4",
        "processors": "1024",
        "platform": "Linux-5.10.245.aws-x86_64-with-glibc2.36",
    }
    assert decisive(here) == decisive(there)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("platform", "Linux-6.1.0-x86_64-with-glibc2.31"),
        ("platform", "Linux-6.1.0-aarch64-with-glibc2.36"),
        ("platform", "macOS-14.4-arm64-arm-64bit"),
        ("tensorflow", "1.0"),
        ("instructions", "avx2"),
        ("OMP_NUM_THREADS", "8"),
    ],
)
def test_what_changes_results_is_compared(name: str, value: str) -> None:
    here = describe() | {"platform": "Linux-6.1.0-x86_64-with-glibc2.36"}
    assert decisive(here) != decisive(here | {name: value})


def test_one_thread_is_what_every_worker_has(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    nothing_said = describe()
    # As Dask's workers have it.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert describe() == nothing_said
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert describe() == {**nothing_said, "OPENBLAS_NUM_THREADS": "4"}
    assert threads.one_each({"PATH": "/bin", "OMP_NUM_THREADS": "2"}) == {
        **dict.fromkeys(threads.VARIABLES, "1"),
        "PATH": "/bin",
        "OMP_NUM_THREADS": "2",
    }


def test_what_the_processor_has_is_told() -> None:
    if not Path("/proc/cpuinfo").exists():
        pytest.skip("the system does not tell")
    assert set(describe()["instructions"].split()) <= set(environment_module.INSTRUCTIONS)
