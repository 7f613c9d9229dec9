"""Which YAML files are taken for specs, in projects that are full of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradcheck.spec.format.keys import TARGETS
from gradcheck.testing import recognise
from gradcheck.testing.recognise import has_targets, strange_keys

ROOT = Path(__file__).parents[2]
OURS = sorted((ROOT / "specs").rglob("*.yaml"))

SPEC = "op: exp\ninputs: {x: [3]}\n"

OTHERS = {
    "docker-compose.yml": "services:\n  web:\n    image: nginx\n    volumes: ['.:/code']\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: x\n    hooks: [{id: ruff}]\n",
    "ci.yml": "name: ci\non: [push]\njobs:\n  test:\n    steps:\n      - run: make\n",
    "mkdocs.yml": "site_name: x\nnav:\n  - index.md\n",
    "openapi.yaml": "openapi: 3.0.0\ninfo: {title: x}\npaths: {}\n",
    "serverless.yml": "service: x\nfunction: handler\nlayer: arn\n",
    "patch.yaml": "- op: add\n  path: /a\n  inputs: 1\n",
    "calls.yaml": "cases:\n  - op: add\n    inputs: [1, 2]\n    expected: 3\nversion: 1\n",
    "data.yaml": "cases:\n  - name: a\n    inputs: [1, 2]\n    args: {}\n",
    "hydra.yaml": "layer: dense\ndtype: float32\nseed: 0\n",
    "onnx.yaml": "op: Conv\ninputs: [x]\nattrs: {}\nopset: 11\n",
    "empty.yaml": "",
    "broken.yaml": "{[:",
    "comment.yaml": "# op: exp\n# inputs: {x: [3]}\nname: x\n",
    "words.yaml": "function and op: inputs\n",
}


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_every_spec_of_ours_is_one(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert strange_keys(text) == []
    assert has_targets(text)


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_is(name: str) -> None:
    assert strange_keys(OTHERS[name]) != []


@pytest.mark.parametrize(
    "text",
    [
        SPEC,
        "# a comment: x\n\n---\n'op': exp\n\"inputs\": {x: [3]}\n",
        "cases:\n  - {op: exp, inputs: {x: [3]}}\n",
        "inputs: {x: [3]}\ncases:\n  - op: exp\n  - op: log\n",
        "op: exp\ninpust: {x: [3]}\n",  # a slip
        "op: exp\ninputs: {x: [3]}\nsede: 1\n",
        "op: exp\ninputs: {x: [3]}\ntolerence: {rtol: 1}\n",
        "op: exp\ninputs: {x: [3]\nseed: 1\n",  # not even YAML
        "layer: keras.layers.Dense\ninit: {units: 2}\ninputs: [[2, 3]]\n",
    ],
)
def test_what_is_a_spec_or_nearly_one(text: str) -> None:
    assert strange_keys(text) == []


def test_the_words_are_those_of_the_format() -> None:
    assert set(TARGETS) == recognise._TARGETS


def collected(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    result = pytester.runpytest_inprocess("--collect-only", "-q", *arguments)
    assert "error" not in result.parseoutcomes(), result.stdout.str()
    return [line for line in result.outlines if "::" in line]


def write(pytester: pytest.Pytester, path: str, text: str = SPEC) -> None:
    place = pytester.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_a_project_with_yaml_files_of_all_kinds(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    for name, text in OTHERS.items():
        write(pytester, name, text)
        write(pytester, f"tests/data/{name}", text)
    for arguments in ((), (".",), (".", "tests")):
        found = collected(pytester, *arguments)
        assert len(found) == 1
        assert found[0].endswith("::test_one")


def test_no_yaml_file_is_collected_unless_somebody_asks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    write(pytester, "specs/exp.yaml")
    write(pytester, "tests/exp.yaml")
    assert len(collected(pytester)) == 1
    pytester.makeini("[pytest]\ntestpaths = tests specs")
    assert collected(pytester) == []


def test_what_is_named_on_the_command_line(pytester: pytest.Pytester) -> None:
    write(pytester, "specs/exp.yaml")
    write(pytester, "specs/deep/log.yml", "op: log\ninputs: {x: [3]}\n")
    write(pytester, "specs/.hidden.yaml")
    both = ["specs/deep/log.yml::log-3", "specs/exp.yaml::exp-3"]
    assert sorted(collected(pytester, "specs")) == both
    assert sorted(collected(pytester, ".")) == both
    assert sorted(collected(pytester, str(pytester.path / "specs" / ".." / "specs"))) == both
    assert collected(pytester, "specs/exp.yaml") == both[1:]
    assert collected(pytester, "specs/deep/log.yml::log-3") == both[:1]


def test_a_file_that_is_named_may_be_quite_wrong(pytester: pytest.Pytester) -> None:
    write(pytester, "half.yaml", "op: matmul\n")
    assert collected(pytester, ".") == []
    pytester.runpytest_inprocess(".", "half.yaml").assert_outcomes(errors=1)
    result = pytester.runpytest_inprocess("half.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["half.yaml:1:1: *inputs*"])


def test_another_kind_of_file_that_is_named_is_none_of_ours(pytester: pytest.Pytester) -> None:
    write(pytester, "test_api.tavern.yaml", "test_name: x\nstages: []\n")
    result = pytester.runpytest_inprocess("test_api.tavern.yaml")
    assert "ERROR collecting" not in result.stdout.str()


def test_what_is_nearly_a_spec_is_not_passed_by_in_silence(pytester: pytest.Pytester) -> None:
    write(pytester, "specs/exp.yaml", f"{SPEC}comment: mine\n")
    result = pytester.runpytest_inprocess("specs", "-W", "error")
    result.stdout.fnmatch_lines(
        ["gradcheck: specs/exp.yaml is not taken for a spec, for no spec has `comment`: *"]
    )
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    named = pytester.runpytest_inprocess("specs/exp.yaml")
    named.stdout.fnmatch_lines(["specs/exp.yaml:3:1: *`comment`*"])


def test_with_the_setting_exactly_what_lies_there(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ngradcheck_specs = specs more/one.yaml")
    write(pytester, "specs/exp.yaml")
    write(pytester, "specs/.hidden.yaml")
    write(pytester, "more/one.yaml")
    write(pytester, "more/two.yaml")
    wanted = ["more/one.yaml::exp-3", "specs/exp.yaml::exp-3"]
    assert sorted(collected(pytester)) == wanted
    assert sorted(collected(pytester, ".")) == wanted
    assert collected(pytester, "more/two.yaml") == []
    # There, what is no spec is an error, and not passed by.
    write(pytester, "specs/docker-compose.yml", OTHERS["docker-compose.yml"])
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["specs/docker-compose.yml:1:1: *`services`*"])


def test_a_place_in_the_settings_must_be_there(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ngradcheck_specs = spces")
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gradcheck_specs: spces: there is no such file or folder"])


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert recognise._text(tmp_path / "gone.yaml") == ""
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00op: exp")
    assert not strange_keys(recognise._text(tmp_path / "binary.yaml"))


def test_a_file_without_a_target_costs_no_import() -> None:
    code = (
        "import sys; from gradcheck.testing.recognise import strange_keys\n"
        f"assert strange_keys({OTHERS['docker-compose.yml']!r}) is None\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
