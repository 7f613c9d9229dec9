"""Runs a notebook from top to bottom, and keeps what it shows: no server, no kernel.

    python -m tools.notebook docs/tutorial.ipynb            run it, and write the outputs into it
    python -m tools.notebook docs/tutorial.ipynb --check    run it, and compare with those in it

Cells are plain Python. Of what a cell ends with, its display is kept, as a notebook would; numbers
that differ between machines, such as times and the last digits of a bar, are not compared.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Output = dict[str, Any]

DPI = 72
"""Of pictures: a notebook is text under version control, and a picture in it is a long line."""

_VARIES = re.compile(r"\d+\.\d+ ?s\b|agrees (?:exactly|to \S+)|[\d.]+e[-+]\d+")


def main() -> int:
    """Run one notebook; 1 where it shows something else than is written in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    asked = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("MPLBACKEND", "agg")
    notebook = json.loads(asked.path.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    before = [told(cell["outputs"]) for cell in cells]
    run(cells)
    if not asked.check:
        asked.path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return 0
    wrong = 0
    for cell, old in zip(cells, before, strict=True):
        new = told(cell["outputs"])
        if new != old:
            wrong += 1
            source, number = "".join(cell["source"]), cell["execution_count"]
            print(
                f"cell {number} shows something else:\n{source}\n--- before\n{old}\n--- now\n{new}"
            )
    return int(wrong > 0)


def run(cells: list[Cell]) -> None:
    """Run the cells one after the other, in one namespace; each gets its outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        cell["execution_count"] = number
        cell["outputs"] = outputs_of("".join(cell["source"]), names, number)


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[Output]:
    """What a cell prints, and the display of what it ends with."""
    place = f"In[{number}]"
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)  # noqa: S102  (the notebook is ours)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)  # noqa: S307
    outputs: list[Output] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {kind: shown.splitlines(keepends=True) for kind, shown in display(value).items()}
        shown = {"output_type": "execute_result", "execution_count": number}
        outputs.append({**shown, "data": data, "metadata": {}})
    return outputs


def display(value: Any) -> dict[str, str]:
    """What a front end may choose from, by kind."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        # (Without the date and the version of who drew it.)
        value.savefig(picture, format="png", dpi=DPI, metadata={"Software": None})
        size = "x".join(f"{side:g}" for side in value.get_size_inches())
        image = base64.b64encode(picture.getvalue()).decode()
        return {"image/png": image, "text/plain": f"<Figure of {size} inches>"}
    return {"text/plain": repr(value)}


def told(outputs: list[Output]) -> str:
    """The text of the outputs, but for what varies between machines."""
    texts = [
        "".join(output["text"] if "text" in output else output["data"]["text/plain"])
        for output in outputs
    ]
    text = _VARIES.sub("…", "\n".join(texts))
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
