"""Parts of the site's pages: explanations, a notebook."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import gradcheck

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.ops.declaration import Op


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
