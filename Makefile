# Two commands do everything on a fresh machine with Python and make:
#   make run    sets up .venv and checks every spec
#   make test   sets up .venv, lints, checks the types and passes the tests

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# Tests start Python hundreds of times: without compiled modules (an image may say so) each start
# compiles the package, and pytest rewrites every test again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test lint types tests format docs bench compat sweep fuzz soak clean help

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(STAMP)  ## check every spec in specs/
	$(BIN)/gradcheck run specs/

# mypy is one process and takes a minute: it has its place beside the tests.
test: lint  ## lint, types and tests: what CI runs
	@$(MAKE) --no-print-directory -j2 types tests

tests: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(STAMP)  ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

format: $(STAMP)  ## let ruff put things right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.docs-installed  ## the site, in build/site: links are checked
	$(BIN)/python -m tools.site_pages --build

bench: $(STAMP)  ## compare with other checkers; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

compat: $(STAMP)  ## the suite on other Pythons, the oldest and newest dependencies, a pre-release
	$(BIN)/python -m tools.compat

sweep: $(STAMP)  ## every op, dtype and shape at 20 points: no alarm; writes benchmarks/SWEEP.md
	$(BIN)/python -m tools.sweep

fuzz: $(STAMP)  ## random attacks on specs and explain, for some minutes
	$(BIN)/python -m tools.fuzz --count 10000

soak: $(STAMP)  ## 100,000 cases while processes are killed at random, for a quarter of an hour
	$(BIN)/python -m tools.soak --cases 100000

clean:  ## remove the environment and what tools left behind
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .gradcheck .compat

.venv/.docs-installed: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gradcheck needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m compileall -q gradcheck
	@touch $(STAMP)
