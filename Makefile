# make demo    run the main job and see a result
# make test    every check and every test but the slow ones
# All set-up happens by itself, in .venv; it needs Python 3.11 or newer, pip, git and make.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OLDEST := .venv-oldest
PYTEST = $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
.PHONY: help demo test quick slow oldest lint bench pictures clean

help:
	@echo 'make demo      topics of all State of the Union addresses, and demo/report.html'
	@echo 'make test      lint, types, one-way imports, then all tests but the slow ones'
	@echo 'make quick     the quick tests only'
	@echo 'make slow      the slow tests only'
	@echo 'make oldest    the quick tests with the oldest versions that pyproject.toml allows'
	@echo 'make lint      style, types and one-way imports, no tests'
	@echo 'make bench     benchmarks; they print times and judge nothing'
	@echo 'make pictures  draw the pictures of docs/ again'
	@echo 'make clean     remove .venv, demo/ and every cache'

# A python that starts and can make environments: a version manager may offer names that do not run.
$(READY): pyproject.toml
	@if ! $(BIN)/python -c '' 2>/dev/null; then \
	  for name in python3.13 python3.12 python3.11 python3; do \
	    if $$name -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then python=$$name; break; fi; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo 'No Python 3.11 or newer with the venv module was found: install one (python3-venv).'; \
	    exit 1; \
	  fi; \
	  echo "Making a Python environment in $(VENV) with $$($$python --version) ..."; \
	  $$python -m venv --clear $(VENV) || exit 1; \
	fi
	@echo 'Installing thincrm and its tools there (a minute or two; only when pyproject.toml changes) ...'
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable '.[plot,data,dask,parquet]' --group test
	@touch $@

demo: $(READY)
	@$(BIN)/thincrm demo

lint: $(READY)
	@echo 'Style (ruff) ...'
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@echo 'Types (mypy, strict) ...'
	@$(BIN)/mypy
	@echo 'One-way imports (import-linter) ...'
	@$(BIN)/lint-imports --no-logo

test: lint
	@echo 'Tests, quick and joint, two processes ...'
	@$(PYTEST) -m 'not slow'

quick: $(READY)
	@$(PYTEST) -m 'not joint and not slow'

slow: $(READY)
	@$(PYTEST) -m slow || [ $$? -eq 5 ]  # 5: there are none yet

# The oldest versions are read from pyproject.toml: each >= becomes ==. Old packages speak of newer
# ones as deprecated, and scikit-learn 1.6 of pytest 9: that is no fault of ours; nor that one of its
# checks subtracts a mean from whole numbers in place.
oldest:
	@$(OLDEST)/bin/python -c '' 2>/dev/null || python3.11 -m venv --clear $(OLDEST)
	@sed -n '/^dependencies/,/^]/p; /^plot = /p' pyproject.toml | grep -o '"[A-Za-z].*>=[0-9.]*"' \
	  | tr -d '"' | sed 's/>=/==/' > $(OLDEST)/pins.txt
	@$(OLDEST)/bin/python -m pip install --quiet --requirement $(OLDEST)/pins.txt \
	  'click==8.2.1' 'pytest>=8,<9' pytest-xdist hypothesis
	@$(OLDEST)/bin/python -m pip install --quiet --no-deps --editable .
	@$(OLDEST)/bin/python -m pytest -n 2 -m 'not joint and not slow' \
	  -k 'not check_positive_only_tag_during_fit' -W ignore::DeprecationWarning

bench: export OMP_NUM_THREADS = 1
bench: export OPENBLAS_NUM_THREADS = 1
bench: $(READY)
	@for script in benchmarks/bench_*.py; do \
	  echo "$$script"; $(BIN)/python $$script || exit 1; \
	done

pictures: $(READY)
	@$(BIN)/python -m thincrm.demo docs/pictures

clean:
	rm -rf $(VENV) $(OLDEST) demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
