# Every target sets up what it needs in .venv; only Python >= 3.11, git and make are assumed.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
ARGS ?=
RUN := .venv/bin/python

.PHONY: help serve test test-all lint format bench lock setup-run setup-dev trace

help:
	@echo "make serve     set up and run the product   (ARGS='--port 8123 --data-dir DIR')"
	@echo "make test      set up and run the tests     (ARGS='-k name')"
	@echo "make test-all  the same with the slow tests"
	@echo "make lint      format, lint, types, layers, requirement trace"
	@echo "make bench     measured against peers and floors (results/bench.json)"
	@echo "make lock      renew the hash-pinned locks"

setup-run setup-dev:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@$(PYTHON) scripts/setup.py $(@:setup-%=%)

serve: setup-run
	@exec .venv/bin/yuzui serve $(ARGS)

test: setup-dev
	$(RUN) -m pytest -m "not slow" $(ARGS)

test-all: setup-dev
	$(RUN) -m pytest $(ARGS)

lint: setup-dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/pyright --warnings
	.venv/bin/lint-imports
	$(RUN) scripts/sizes.py
	$(RUN) scripts/requirement_trace.py

format: setup-dev
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: setup-dev
	$(RUN) -m benchmarks $(ARGS)

lock: setup-dev
	$(RUN) scripts/lock.py
