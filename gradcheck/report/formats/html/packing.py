"""The details of many cases in little room: compressed, some dozens together, as text."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

from gradcheck.report.formats.html.case_details import case_details
from gradcheck.report.formats.html.markup import Html, joined, tag

if TYPE_CHECKING:
    from gradcheck.report.formats.html.shown_run import ShownRun

CASES_IN_A_PACK = 50
"""Cases that are unpacked together: some 200 kB of markup, a few milliseconds."""

_RAW = -zlib.MAX_WBITS
"""Deflate without a header: what browsers call `deflate-raw`."""


def packs(shown: ShownRun) -> Html:
    """The details of all cases, in packs that the script opens one by one.

    Those that stand in the page in full are empty there.
    """
    found = []
    for start in range(0, len(shown.results), CASES_IN_A_PACK):
        some = shown.results[start : start + CASES_IN_A_PACK]
        texts = ["" if r.id in shown.in_full else case_details(shown, r) for r in some]
        number = start // CASES_IN_A_PACK
        found.append(tag("script", Html(_packed(texts)), type="text/plain", id=f"pack{number}"))
    return joined(found, "\n")


def _packed(texts: list[str]) -> str:
    coder = zlib.compressobj(9, zlib.DEFLATED, _RAW)
    data = coder.compress(json.dumps(texts).encode()) + coder.flush()
    return base64.b64encode(data).decode()
