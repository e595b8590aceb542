# Refrain's commands. `make run` starts everything; `make test` and `make lint` are what CI runs.

# Debian's python3 is 3.11 or newer since bookworm.
PYTHON := $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# The settings need a secret key even where none is used.
TOOLS_ENV := REFRAIN_SECRET_KEY=of-no-use-to-anybody DATABASE_URL=sqlite:///$(CURDIR)/.venv/lint.sqlite3

# Three workers on two cores: of three tests one mostly waits, for processes that it started or for a deadline.
WORKERS := 3
# loadgroup: those that share a stack or the engines' models run in one worker (tests/plugin.py says which).
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadgroup
# With their bytecode kept, the hundreds of processes that the tests start are up sooner.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run manage test test-sqlite test-postgresql test-schema test-engines audit lint lint-deploy format messages dev \
  engines-dev python system-tools

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: python ## Start everything on 127.0.0.1:8000 (PORT=8001 changes it)
	@$(PYTHON) ttsproject/launch/preflight.py
	@$(PYTHON) ttsproject/launch/install.py requirements/run.txt
	@exec $(BIN)/python -m ttsproject.launch

manage: ## Django's command line beside `make run`, as in: make manage ARGS='issue_key demo laptop'
	@$(BIN)/python -m ttsproject.launch.manage $(ARGS)

test: test-sqlite test-postgresql ## All tests on SQLite, then those on PostgreSQL to which that can make a difference

test-sqlite: dev system-tools
	$(PYTEST)

test-postgresql: dev system-tools
	$(PYTEST) --database=postgresql -m "not browser and not faults"

test-schema: dev ## The long form of scoreboard row A1: requests drawn from the OpenAPI document (SCHEMA_EXAMPLES=50 of each)
	SCHEMA_EXAMPLES=$${SCHEMA_EXAMPLES:-50} $(PYTEST) tests/api/test_the_document_holds.py

audit: python ## Known weaknesses of what is installed, in an environment of their own; says so where nothing can be asked
	@$(PYTHON) ttsproject/launch/install.py requirements/audit.txt .venvs/audit
	@.venvs/audit/bin/python .ci/audit.py

test-engines: engines-dev ## The tests of the engines that need torch, in an environment of their own (6 GB)
	.venvs/engines/bin/python -m pytest tests/engines_torch

lint: dev ## Style, types, layers, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(TOOLS_ENV) $(BIN)/mypy
	$(BIN)/lint-imports
	$(TOOLS_ENV) $(BIN)/python manage.py makemigrations --check --dry-run

lint-deploy: python ## docker-compose.yml by Compose's schema, the Dockerfile by hadolint, in an environment of their own
	@$(PYTHON) ttsproject/launch/install.py requirements/deploy-lint.txt .venvs/deploy-lint
	.venvs/deploy-lint/bin/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	.venvs/deploy-lint/bin/hadolint deploy/Dockerfile

format: dev ## Let ruff repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

messages: dev ## Compile the translations (a test holds them to their source)
	$(BIN)/pybabel compile --directory=locale --domain=django

dev: python
	@$(PYTHON) ttsproject/launch/install.py requirements/dev.txt

engines-dev: python
	@$(PYTHON) ttsproject/launch/install.py requirements/torch-dev.txt .venvs/engines

system-tools: python
	@$(PYTHON) tests/system_tools.py

python:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is missing. On Debian or Ubuntu: apt-get install python3 python3-venv" >&2; exit 1; }
