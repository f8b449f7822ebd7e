# Everything a developer types. `make` alone lists it.

VENV := .venv
PY := $(VENV)/bin/python
TORCH := .venv-torch
STORE := auto

# tensorflow-cpu is for this platform only; elsewhere the package is called tensorflow
TENSORFLOW := $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),tf-cpu,tf)

.DEFAULT_GOAL := help
.PHONY: help setup torch servers demo test check format bench clean distclean

help:  ## this list
	@awk -F ':.*##' '/^[a-z]+:.*##/ {printf "  make %-11s%s\n", $$1, $$2}' Makefile
	@echo "  The first use sets everything up: 5 to 10 minutes, once. PYTHON=python3.12 chooses the Python (3.10-3.13)."

setup: $(VENV)/installed  ## make .venv with everything that the other commands need

$(VENV)/installed: pyproject.toml
	@PYTHON="$(PYTHON)" sh servers/make_venv.sh $(VENV)
	$(PY) -m pip install --editable '.[$(TENSORFLOW),s3,dev]'
	@touch $@

torch: $(TORCH)/installed  ## make .venv-torch: PyTorch beside TensorFlow, for a test (1 to 5 minutes, once)

$(TORCH)/installed: pyproject.toml
	@PYTHON="$(PYTHON)" sh servers/make_torch.sh $(TORCH) $(TENSORFLOW)
	@touch $@

servers: setup  ## get the lakeFS server, if this machine has none (3 to 6 minutes, once)
	$(PY) -m servers.lakefs

demo: setup  ## train on images streamed from a lakeFS server; STORE=s3: from an S3 server, STORE=lakefs: never from S3
	$(PY) -m examples.demo --store $(STORE)

test: check servers torch  ## check, then every test against real servers; ARGS='-k idx' for some
	$(PY) -m coverage run -m pytest $(ARGS)
	$(if $(ARGS),,$(PY) -m coverage report)

check: setup  ## format, lint and types
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy

format: setup  ## bring the code into the form that check wants
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

bench: setup  ## measure the speed against other ways to read; ARGS='--help' for the choices
	$(PY) -m benchmarks $(ARGS)

clean:  ## remove the demo's state and what tools left; keeps .venv, .venv-torch and the installed servers
	rm -rf .tfstream .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -not -path './$(VENV)*/*' -prune -exec rm -rf {} +

distclean: clean  ## clean, and remove .venv and .venv-torch too
	rm -rf $(VENV) $(TORCH)
