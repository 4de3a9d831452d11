# Everything goes through here: `make help`. Works with GNU make 3.81 (macOS) and later, on Windows in Git Bash.

VENV ?= .venv
UV ?= uv
PYTHON_NAMES = python3 python3.14 python3.13 python3.12 python3.11 python
RECENT = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach name,$(PYTHON_NAMES),$(shell $(name) -c "$(RECENT)" >/dev/null 2>&1 && echo $(name))))

ifeq ($(OS),Windows_NT)
BIN = $(VENV)/Scripts
else
BIN = $(VENV)/bin
endif
STAMP = $(VENV)/.stamp
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.PHONY: help build test test-real check lint types format dist bench lock clean

help:  ## what can be asked for
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12

build: $(STAMP)  ## compile this repository's own agents, and report what changed in their prefixes
	@$(BIN)/agentmux build

test: $(STAMP)  ## all tests but those that need a real provider CLI
	@$(BIN)/python -m pytest -n auto

test-real: $(STAMP)  ## tests against the real provider CLIs, on loopback
	@$(BIN)/python -m pytest -m real

check: lint types test  ## lint, types and tests, as CI runs them

lint: $(STAMP)  ## ruff, rules and format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

format: $(STAMP)  ## ruff, rewriting
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

types: $(STAMP)  ## mypy, strict
	@$(BIN)/mypy

dist: $(STAMP)  ## sdist and wheel, from the locked build backend
	@$(BIN)/python -m hatchling build

bench: $(STAMP)  ## builds of 200 agents by 3 providers, a history of 100 commits, the launcher: measured
	@$(BIN)/python benchmarks/builds.py
	@$(BIN)/python benchmarks/diffs.py
	@$(BIN)/python benchmarks/history.py
	@$(BIN)/python benchmarks/launcher.py
	@$(BIN)/python benchmarks/usage.py --quick

lock:  ## write requirements.lock anew from pyproject.toml (needs uv)
	@$(UV) pip compile pyproject.toml --group pyproject.toml:dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade -o requirements.lock.new
	@sed '/^[^#]/,$$d' requirements.lock | cat - requirements.lock.new > requirements.lock.tmp
	@mv requirements.lock.tmp requirements.lock
	@rm requirements.lock.new

clean:  ## remove the environment and every cache; outputs of a build stay
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache dist

# Made anew, not amended, whenever the lock or the project's own metadata is newer: nothing of an older lock stays.
$(STAMP): requirements.lock pyproject.toml
	@python="$(PYTHON)"; test -n "$$python" && $$python -c "$(RECENT)" || \
	  { echo "agentmux needs Python 3.11 or newer; say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making $(VENV)" >&2
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP_INSTALL) --require-hashes --only-binary :all: -r requirements.lock
	@$(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@
