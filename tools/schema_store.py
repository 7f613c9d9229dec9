"""The spec's schema as SchemaStore takes it: files for a pull request there.

    python -m tools.schema_store          writes them to build/schemastore/

SchemaStore wants a schema of draft-07 with an `$id` of its own, files that must be valid and files
that must not, and an entry in its catalogue, by which editors find the schema for a file's name.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from gradcheck.spec import schema

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "schemastore"

NAME = "gradcheck-spec"
ADDRESS = f"https://www.schemastore.org/{NAME}.json"

CATALOGUE_ENTRY: dict[str, Any] = {
    "name": "gradcheck spec",
    "description": "Functions and shapes whose TensorFlow gradients gradcheck checks",
    # (`specs/*.yaml` is what many others have: those name the schema in their first line.)
    "fileMatch": ["*.gradcheck.yaml", "*.gradcheck.yml"],
    "url": ADDRESS,
}

WRONG = {
    "no-target": "inputs: {x: [2]}\n",
    "two-targets": "op: exp\nexpr: tf.exp(x)\ninputs: {x: [2]}\n",
    "unknown-key": "op: exp\ninputs: {x: [2]}\ntollerance: {rtol: 0.1}\n",
    "unknown-mode": "op: exp\ninputs: {x: [2]}\nmode: fast\n",
    "shape-of-text": "op: exp\ninputs: {x: two}\n",
}
"""What must be refused, by what is wrong with it."""


def files() -> dict[str, str]:
    """Every file by its path in SchemaStore's own repository, and the entry for its catalogue."""
    document = schema()
    told = {"$schema": document.pop("$schema"), "$id": ADDRESS, **document}
    lessons = sorted((ROOT / "specs" / "guide").glob("*.yaml"))
    return {
        f"src/schemas/json/{NAME}.json": _text(told),
        "catalog-entry.json": _text(CATALOGUE_ENTRY),
        **{f"src/test/{NAME}/{path.name}": path.read_text("utf-8") for path in lessons},
        **{f"src/negative_test/{NAME}/{name}.yaml": text for name, text in WRONG.items()},
    }


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write them, in place of those of last time."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, text in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"wrote {FOLDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
