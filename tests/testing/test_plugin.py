"""The plugin as a whole: what it costs, and that it leaves others alone."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]

HEAVY = ("tensorflow", "keras", "numpy", "scipy", "sympy", "rich", "click", "yaml", "matplotlib")
"""None of them is loaded by a run that has nothing for us. (In a thousandth of a second:
`python -X importtime -c 'import pytest, gradcheck.testing.plugin'`.)"""


def test_pytest_finds_it() -> None:
    found = [entry for entry in entry_points(group="pytest11") if entry.name == "gradcheck"]
    assert {entry.value for entry in found} == {"gradcheck.testing.plugin"}


def test_a_run_without_gradients_loads_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        f"""
        import sys
        def test_nothing(request):
            assert request.config.pluginmanager.hasplugin("gradcheck")
            # (`recognise` has looked at a YAML file, which is none of ours.)
            ours = {{name for name in sys.modules if name.partition(".")[0] == "gradcheck"}}
            assert ours == {{"gradcheck", "gradcheck.testing", "gradcheck.testing.plugin",
                             "gradcheck.testing.recognise"}}
            assert not set({HEAVY!r}) & set(sys.modules)
        """
    )
    (pytester.path / "docker-compose.yml").write_text("services: {}")
    # (Other plugins may be installed, which load what they like.)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_subprocess("-p", "gradcheck", "-W", "error", ".")
    result.assert_outcomes(passed=1)


def test_it_can_be_switched_off(pytester: pytest.Pytester) -> None:
    (pytester.path / "exp.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    assert "exp-3" in pytester.runpytest_inprocess("--collect-only", ".").stdout.str()
    off = pytester.runpytest_inprocess("--collect-only", ".", "-p", "no:gradcheck")
    assert "exp-3" not in off.stdout.str()


def test_it_says_what_it_offers(pytester: pytest.Pytester) -> None:
    said = pytester.runpytest_inprocess("--help").stdout.str()
    assert "--gradcheck-isolate" in said
    assert "gradcheck_specs (paths)" in said
    assert "gradcheck_isolate (bool)" in said
    marks = pytester.runpytest_inprocess("--markers").stdout.str()
    assert "@pytest.mark.gradcheck: a case of a gradcheck spec" in marks
    fixtures = pytester.runpytest_inprocess("--fixtures").stdout.str()
    assert "Check gradients inside a test" in fixtures


def test_nothing_needs_pytest_but_the_plugin() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None; sys.modules['_pytest'] = None\n"
        "import gradcheck\n"
        "for name in dir(gradcheck): getattr(gradcheck, name)\n"
        "try:\n    gradcheck.parametrize(mode='xla')\n"
        "except gradcheck.UsageError as error:\n"
        "    sys.exit('pytest, which is not installed' not in str(error))\n"
        "sys.exit(2)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_our_own_specs_are_collected_with_the_ids_of_the_command() -> None:
    """In this checkout too, whose settings make a warning an error."""
    command = [sys.executable, "-m", "pytest", "specs/guide", "--collect-only"]
    ids = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    command = [sys.executable, "-m", "gradcheck", "run", "specs/guide", "--collect-only"]
    ours = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = [line for line in ours.splitlines() if "::" in line]
    assert wanted
    assert [line for line in ids.splitlines() if "::" in line] == wanted
