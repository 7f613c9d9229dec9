"""The style: enough contrast in every colour scheme, and no colour that only one of them has."""

from __future__ import annotations

import re
from importlib import resources

import pytest

STYLE = resources.files("gradcheck.report.formats.html").joinpath("page.css").read_text("utf-8")
_BLOCKS = re.findall(r"html \{(.*?)\}", STYLE, re.DOTALL)
SCHEMES = dict(zip(("light", "dark", "print"), _BLOCKS, strict=True))

PAIRS = [
    ("ink", "ground"), ("ink", "raised"), ("faint", "ground"), ("faint", "raised"),
    ("link", "ground"), ("link", "raised"), ("ink", "failed-ground"), ("failed", "ground"),
    *((status, f"{status}-ground") for status in ("failed", "known", "kink", "pass", "skipped")),
]  # fmt: skip


def colours(scheme: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#\w+)", SCHEMES[scheme]))


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    shares = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_texts_can_be_read(scheme: str, text: str, ground: str) -> None:
    found = colours(scheme)
    low, high = sorted([luminance(found[text]), luminance(found[ground])])
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_every_scheme_has_every_colour() -> None:
    light, dark, paper = (colours(scheme).keys() for scheme in SCHEMES)
    assert light == dark == paper
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) <= light
