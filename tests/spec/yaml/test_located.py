"""YAML with places: the same from both of PyYAML's parsers, bounded, and broken in kind words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gradcheck.spec.format.fields import plain
from gradcheck.spec.yaml import located
from gradcheck.spec.yaml.located import read_yaml
from gradcheck.spec.yaml.nodes import MapNode, ScalarNode, place_of
from gradcheck.spec.yaml.source import Source


@pytest.fixture(params=["compiled", "pure"], autouse=True)
def each_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """PyYAML has two parsers; places and values must be the same."""
    if request.param == "pure":
        monkeypatch.setattr(located, "_Loader", yaml.SafeLoader)
    elif not yaml.__with_libyaml__:
        pytest.skip("PyYAML was built without its compiled parser")
    return str(request.param)


def read(text: str) -> tuple[Any, Source]:
    source = Source("s.yaml", text)
    root = read_yaml(source)
    return (None if root is None else plain(root)), source


def places(source: Source) -> list[tuple[int, int]]:
    return [(p.location.line, p.location.column) for p in source.problems]


def test_a_quoted_scalar_is_a_text() -> None:
    assert read("a: '1'\nb: \"true\"\n")[0] == {"a": "1", "b": "true"}


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert read("on: 1\ny: 2\n1: 3\n")[0] == {"on": 1, "y": 2, "1": 3}


def test_a_duplicate_key_names_both_places() -> None:
    _, source = read("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n")
    (problem,) = source.problems
    assert places(source) == [(5, 3)]
    assert "`c` stands twice" in problem.message
    assert "line 3, column 3" in problem.message


def test_a_duplicate_marks_its_mapping_and_what_holds_it() -> None:
    source = Source("s.yaml", "a: {x: {b: 1, b: 2}}\nc: {d: 1}\n")
    root = read_yaml(source)
    assert isinstance(root, MapNode)
    assert (root.fault, root.bad) == (False, True)
    assert (root.items["a"].bad, root.items["c"].bad) == (True, False)


def test_anchors_and_merge_keys_work_and_own_keys_win() -> None:
    value, source = read("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {y: 4, <<: [*a, {z: 5}]}\n")
    assert not source.problems
    assert value["b"] == {"x": 1, "y": 3}
    assert value["c"] == {"y": 4, "x": 1, "z": 5}


def test_a_merge_of_something_else_is_refused() -> None:
    _, source = read("b: {<<: 3}\n")
    assert "`<<`" in source.problems[0].message


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", (1, 1), "empty"),
        ("# nothing\n", (1, 1), "empty"),
        ("---\n", (1, 1), "empty"),
        ("a: 1\n---\nb: 2\n", (2, 1), "second document"),
        ("a: !!python/name:os.system x\n", (1, 4), "tag `!!python/name:os.system` is refused"),
        ("a: !mine [1]\n", (1, 4), "tag `!mine` is refused"),
        ("a:\n\tb: 1\n", (2, 1), "tab"),
        ("a: *x\n", (1, 4), "`*x` has no anchor"),
        ("a: &x [*x]\n", (1, 8), "own anchor"),
        ("? [1, 2]\n: 3\n", (1, 3), "a key must be text"),
        ("a: \x01\n", (1, 4), "control character"),
    ],
)
def test_broken_texts_are_located(text: str, place: tuple[int, int], words: str) -> None:
    _, source = read(text)
    assert places(source) == [place]
    assert words in source.problems[0].message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", (1, 4)),
        ("a: {x: 1\nb: 3\n", (1, 4)),
        ("b: 1\na: 'open\n", (2, 4)),
    ],
)
def test_what_is_not_closed_is_shown_where_it_opens(
    text: str, place: tuple[int, int], each_parser: str
) -> None:
    _, source = read(text)
    assert source.problems[0].message.startswith("this is not valid YAML: ")
    if each_parser == "compiled":
        assert places(source) == [place]


def test_columns_count_characters() -> None:
    _, source = read("é: {ü: 1, ü: 2}\n")
    assert places(source) == [(1, 11)]


def test_depth_is_bounded() -> None:
    _, source = read("[" * 10_000)
    assert "nested more than 64" in source.problems[0].message


def test_aliases_are_counted_as_what_they_stand_for() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    _, source = read("\n".join(lines))
    assert "more than 1,000,000 values" in source.problems[0].message


@pytest.mark.parametrize(
    ("text", "offset", "column"),
    [
        ("a: abcdef\n", 2, 6),
        ("a: 'abcdef'\n", 2, 7),
        ("a: 'a''b'\n", 2, 8),
        ('a: "abcdef"\n', 2, 7),
        ('a: "\\tb\\u00e9x"\n', 3, 14),
    ],
)
def test_a_character_of_a_text_is_found_in_its_line(text: str, offset: int, column: int) -> None:
    source = Source("s.yaml", text)
    root = read_yaml(source)
    assert isinstance(root, MapNode)
    node = root.items["a"]
    assert isinstance(node, ScalarNode)
    assert place_of(node, offset, source.lines[0]) == (1, column)


@pytest.mark.parametrize("text", ["a: |\n  b\n", "a: >\n  b\n", "a: b\n  c\n", "a: 'b\n  c'\n"])
def test_in_a_text_of_several_lines_the_place_is_unknown(text: str) -> None:
    root = read_yaml(Source("s.yaml", text))
    assert isinstance(root, MapNode)
    node = root.items["a"]
    assert isinstance(node, ScalarNode)
    assert place_of(node, 0, "") is None
