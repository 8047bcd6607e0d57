# Everything sets itself up: a virtual environment in .venv with the locked versions, nothing outside this folder.
PYTHON ?= python3
BIN := .venv/bin
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --custom-compile-command "make lock" --upgrade

.PHONY: demo test test-fast test-slow check docs lock clean

demo: .venv/ready ## The main job in a small form: two to three minutes on two cores.
	@rm -rf runs/demo
	@$(BIN)/rgvf study grid-touch --seeds 3 --frames 200000 --out runs/demo
	@echo
	@echo "With so few seeds and frames some claims come out otherwise than in the whole study, such as that of depth 1:"
	@echo "docs/results/grid.md"
	@echo
	@echo "Next: .venv/bin/rgvf study grid-touch   the whole study, as in the paper (2 minutes)"
	@echo "      .venv/bin/rgvf study list         the other studies"
	@echo "      .venv/bin/python examples/ask.py  sample, describe and draw random questions"

test: .venv/ready ## All tests but the slow ones.
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder

test-fast: .venv/ready ## The tests that need no compiled training: two to three minutes.
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder -m "not slow and not medium"

test-slow: .venv/ready ## The slow tests.
	$(BIN)/pytest -m slow

check: .venv/ready ## Style and types.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright

docs: .venv-docs/ready ## The site, into site/. It needs no network once .venv-docs is there.
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict # not --quiet: it hides warnings from --strict
	@echo "Built: site/index.html"

lock: .venv/ready ## Choose the newest versions again.
	$(BIN)/pip install --quiet uv
	$(COMPILE) --group dev --output-file requirements.lock pyproject.toml
	$(COMPILE) --group pyproject.toml:docs --output-file requirements-docs.lock

clean:
	rm -rf .venv .venv-docs site

# --no-deps: the lock is complete. Without it, pip asks for the newest release of what has extras, which has no hash here.
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rgvf needs Python 3.11 or newer; say which with: make PYTHON=python3.12")'
	@echo "Setting up .venv (about a minute, once) …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

.venv-docs/ready: requirements-docs.lock
	@echo "Setting up .venv-docs (half a minute, once) …"
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements-docs.lock
	@touch $@
