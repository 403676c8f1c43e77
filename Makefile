# make demo  sets up the little that it needs, and carries a real elevation grid through the package
# make test  sets up all that development needs, and passes the tests
# make fuzz  feeds mutated texts, of bytes and of tokens, to the compiled loops, under sanitizers of memory and of
#            undefined behaviour, and changed files to each reader
# All need Python 3.11 or newer (name another with PYTHON=python3.13); `make fuzz` needs a C++ compiler, too.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --disable-pip-version-check --no-input
FUZZ ?= 1000000  # mutations of bytes, and texts from grammars, that `make fuzz` feeds the compiled loops
READERS ?= 5000  # changed files that it gives each reader
WORKERS ?= 3  # on two cores, as some tests wait for other programs
SAY_LOOPS = case "$$($(BIN)/sheetarray --version)" in *compiled*) echo "== the compiled loops were built";; \
	*) echo "== no C++17 compiler was found: everything works, but large files are read and written more slowly";; esac
unexport PYTHONDONTWRITEBYTECODE  # tests start many interpreters

.PHONY: demo test lint fuzz bench site clean

demo: $(VENV)/.demo
	$(BIN)/sheetarray info sample_sheets/elevation.csv
	$(BIN)/sheetarray show sample_sheets/elevation.csv
	$(BIN)/sheetarray convert sample_sheets/elevation.csv elevation.json
	$(BIN)/sheetarray diff sample_sheets/elevation.csv elevation.json

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

SANITIZED = build/fuzz/_scan.abi3.so  # the loops with sanitizers, whose libraries the interpreter has to load first
PRELOADED = $$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)

fuzz: $(VENV)/.development
	@mkdir -p build/fuzz
	$(CXX) -std=c++17 -O1 -g -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=all -DPy_LIMITED_API=0x030B0000 \
		-I$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))') sheetarray/_scan.cpp -o $(SANITIZED)
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(PRELOADED)" $(BIN)/python tests/fuzz/scan_fuzz.py $(SANITIZED) $(FUZZ)
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(PRELOADED)" $(BIN)/python tests/fuzz/grammar_fuzz.py $(SANITIZED) $(FUZZ)
	PYTHONPATH=sheets-emulator $(BIN)/python tests/fuzz/readers_fuzz.py $(READERS)

bench: $(VENV)/.development
	$(BIN)/python -m benchmarks

site: $(VENV)/.development
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(VENV)/.python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'sheetarray needs Python 3.11 or newer')"
	@echo "== making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.demo: pyproject.toml setup.py sheetarray/_scan.cpp sheetarray/_digits.hpp | $(VENV)/.python
	@echo "== installing what CSV, JSON and the command line need: NumPy, polars, click, rich (some 80 MB to download)"
	@$(PIP) --group demo
	@echo "== installing sheetarray itself, from this folder"
	@$(PIP) --quiet --no-deps --editable .
	@$(SAY_LOOPS)
	@touch $@

$(VENV)/.development: pyproject.toml setup.py sheetarray/_scan.cpp sheetarray/_digits.hpp sheets-emulator/pyproject.toml | $(VENV)/.python
	@echo "== installing every format's packages, and those of the tests (some 300 MB to download: a few minutes)"
	@$(PIP) --editable '.[dev]' --editable ./sheets-emulator
	@$(SAY_LOOPS)
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) elevation.json
