# Two commands do everything on a fresh machine with Python and make:
#   make run    sets up .venv and checks every spec
#   make test   sets up .venv, lints, checks the types and passes the tests

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: run test lint types format bench sweep clean help

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(STAMP)  ## check every spec in specs/
	$(BIN)/gradcheck run specs/

test: lint types  ## lint, types and tests: what CI runs
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(STAMP)  ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

format: $(STAMP)  ## let ruff put things right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## compare with other checkers; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

sweep: $(STAMP)  ## every op, dtype and shape at 20 points: no alarm; writes benchmarks/SWEEP.md
	$(BIN)/python -m tools.sweep

clean:  ## remove the environment and what tools left behind
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .gradcheck

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gradcheck needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q gradcheck
	@touch $(STAMP)
