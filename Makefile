# make demo  sets everything up and carries a real elevation grid through the package
# make test  sets everything up and passes the tests
# Both need Python 3.11 or newer (name another with PYTHON=python3.13), nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test lint bench clean

demo: $(VENV)/.installed
	$(BIN)/sheetarray info sample_sheets/elevation.csv
	$(BIN)/sheetarray show sample_sheets/elevation.csv
	$(BIN)/sheetarray convert sample_sheets/elevation.csv elevation.json
	$(BIN)/sheetarray diff sample_sheets/elevation.csv elevation.json

test: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'sheetarray needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) elevation.json
