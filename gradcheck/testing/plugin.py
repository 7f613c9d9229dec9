"""The plugin for pytest: what its entry point names, loaded with every run of pytest.

Everything is imported when it is needed: a run without specs and without the fixture pays for this
file alone. `docs/pytest.md` says what the plugin does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.testing.fixture import GradientCheck


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the settings."""
    isolate = "check each case of a spec in a worker process of its own: a crash costs one case"
    group = parser.getgroup("gradcheck", "gradients of TensorFlow")
    group.addoption("--gradcheck-isolate", action="store_true", default=False, help=isolate)
    parser.addini("gradcheck_isolate", f"{isolate} (as --gradcheck-isolate)", "bool", False)
    specs = (
        "files and folders of gradcheck specs: every YAML file there is one; without it those "
        "below a path of the command line that look like one"
    )
    parser.addini("gradcheck_specs", specs, "paths", [])


def pytest_configure(config: pytest.Config) -> None:
    """The marker; and the places of specs must be there."""
    config.addinivalue_line("markers", "gradcheck: a case of a gradcheck spec")
    if config.getini("gradcheck_specs"):
        from gradcheck.testing.recognise import must_exist

        must_exist(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a file that is a spec."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from gradcheck.testing.recognise import is_spec

    if not is_spec(file_path, parent.config):
        return None
    from gradcheck.testing.spec_items import SpecFile

    return SpecFile.from_parent(parent, path=file_path)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """What is nearly a spec, and was passed by."""
    import sys

    # (Whoever looked at a YAML file has imported it.)
    recognise = sys.modules.get("gradcheck.testing.recognise")
    return [] if recognise is None else recognise.passed_by(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the workers, where there were any."""
    import sys

    # (Whoever ran a case has imported it.)
    items = sys.modules.get("gradcheck.testing.spec_items")
    if items is not None:
        items.close(config)


@pytest.fixture
def gradcheck(request: pytest.FixtureRequest) -> GradientCheck:
    """Check gradients inside a test: `gradcheck(fn, *inputs)` fails it unless they are right.

    Takes what `gradcheck.check` takes and returns its Result; `gradcheck.check` does not fail.
    """
    from gradcheck.testing.fixture import GradientCheck

    return GradientCheck(request.node)
