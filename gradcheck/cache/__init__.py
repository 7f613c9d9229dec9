"""What is remembered between runs, in the folder `.gradcheck/`.

`journal.jsonl` holds the results of the last run, a line each as they came, so that a run which
was killed can be picked up; each shard has a journal of its own. `history.json` holds how long each
case took and whether it failed. Nothing here is ever needed: a file that is missing, damaged or of
another make is a sentence.

May import `gradcheck.report`, since results are written as the JSON report writes them, besides
`gradcheck.model` and `gradcheck.errors`. Its modules come in this order: cache_folder, then
sources, fingerprint and history, then journal, then store.
"""

from __future__ import annotations

from gradcheck.cache.history import History
from gradcheck.cache.journal import Journal, Results
from gradcheck.cache.store import Store

__all__ = ["History", "Journal", "Results", "Store"]
