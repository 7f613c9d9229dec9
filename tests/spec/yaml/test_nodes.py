"""What unquoted scalars mean."""

from __future__ import annotations

import math

import pytest

from gradcheck.spec.yaml.nodes import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4),
        ("1E5", 1e5),
        (".5", 0.5),
        ("1e5", 1e5),
        ("-1.", -1.0),
        ("+3", 3),
        ("010", 10),
        ("0o10", 8),
        ("0x1f", 31),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("on", "on"),
        ("no", "no"),
        ("y", "y"),
        ("off", "off"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2001-01-01", "2001-01-01"),
        ("inf", "inf"),
        ("1e", "1e"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    result = resolve(text)
    assert result == value
    assert type(result) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(float(str(resolve(".nan"))))


@pytest.mark.parametrize(
    "text", ["9" * 5000, "0x" + "f" * 500, "0." + "3" * 500, "1e400", "-1e999"]
)
def test_a_number_that_is_too_long_or_too_large_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"digits: at most 400|beyond what float64 holds"):
        resolve(text)
