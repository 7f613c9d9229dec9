"""Parts of the site's pages: explanations, lessons, a notebook, what was found."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import yaml

import gradcheck
from gradcheck import ops

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gradcheck.ops.declaration import Op


_DECLARED = frozenset(op.name for op in ops.all_ops())


def escaped(text: str) -> str:
    """A text for a cell of a table in Markdown."""
    return re.sub(r"([|*_<\[\]])", r"\\\1", " ".join(text.split()))


def explanation(op: Op) -> str:
    """The page of an op: HTML with MathML, whose headings are those of the site."""
    text = gradcheck.explain(op.name)._repr_html_()
    title, _, body = text.partition("</h3>")
    head = title.partition("<h3>")[0]
    # (A blank line inside of an element would begin a paragraph of Markdown.)
    body = re.sub(r"\n{2,}", "\n", head + body)
    body = re.sub(r"<h4>(.*?)</h4>", lambda m: _heading(m[1]), body)
    called = " or ".join(f"`{name}`" for name in (op.tf, *op.aliases))
    command = f"{called}; on the command line `gradcheck explain {op.name}`"
    return f"# {op.name}\n\n{command}\n\n{body}\n"


def _heading(text: str) -> str:
    anchor = re.sub(r"\W+", "-", html.unescape(text).lower()).strip("-")
    return f'<h2 id="{anchor}">{text}</h2>'


def notebook(path: Path) -> str:
    """A notebook as it was last run: its texts, its code, and what that showed."""
    text = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text.append(source)
            continue
        text.append(f"```python\n{source}\n```")
        text += [_output(each) for each in cell["outputs"]]
    return "\n\n".join([*text, ""])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        inside = re.sub(r"\n{2,}", "\n", "".join(data["text/html"]))
        return f'<div class="output">\n{inside}\n</div>'
    if "image/png" in data:
        inside = "".join(data["image/png"]).strip()
        return f'<img alt="the figure" src="data:image/png;base64,{inside}">'
    told = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{told.rstrip()}\n```"


def known_bugs(root: Path) -> list[Path]:
    """The specs that hold what TensorFlow gets wrong, a file for each family that has some."""
    return sorted(root.glob("specs/*/known_bugs.yaml"))


def findings(path: Path) -> Iterator[str]:
    """The rows of a table of known bugs: op, dtype, verdict, where, why."""
    spec = yaml.safe_load(path.read_text("utf-8"))
    for case in spec["cases"]:
        expect = case.get("expect", spec["expect"])
        for each in expect if isinstance(expect, list) else [expect]:
            verdict, when = each, ""
            if isinstance(each, dict) and "verdict" in each:
                verdict, when = each["verdict"], each.get("when", "")
            reason = each.get("reason") if isinstance(each, dict) else None
            why = escaped(reason or case["reason"])
            name = case.get("op") or case["name"]
            op = f"[`{name}`](ops/{name}.md)" if name in _DECLARED else f"`{name}`"
            dtype, where = case.get("dtype", "float64"), escaped(when) or "all"
            yield f"| {op} | {dtype} | {_verdict(verdict)} | {where} | {why} |"


def _verdict(verdict: str | dict[str, str]) -> str:
    if isinstance(verdict, str):
        return verdict
    return ", ".join(f"{each} of `{name}`" for name, each in verdict.items())
