# Verbs only, one line each. `make` alone prints them.
A ?= attention
OUT ?= grades/$(A)
RUN := .venv/bin/
STAMP := .venv/.ready
PLATFORMS := .venv/.platforms
INSTALL := $(RUN)pip install -q --no-compile
COMPILE := $(RUN)python -m compileall -qq -j 0 .venv/lib || true  # on all cores, unlike pip

.DEFAULT_GOAL := help
.PHONY: help setup setup-platforms grade template release verify new test test-platforms bench soak lint clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## build .venv from requirements.lock; free when nothing has changed

$(STAMP): requirements.lock pyproject.toml
	python3 -m venv .venv && $(INSTALL) -r requirements.lock
	($(COMPILE)) & $(INSTALL) --no-deps --no-build-isolation -e . && wait && touch $@

setup-platforms: $(PLATFORMS) ## add nbgrader, otter-grader and JupyterLab to .venv

$(PLATFORMS): $(STAMP) requirements-platforms.lock
	$(INSTALL) -r requirements-platforms.lock && ($(COMPILE)) && touch $@

grade: $(STAMP) ## grade a class: make grade [A=attention] [S=submissions/] [OUT=grades/attention] [ARGS="--only ada"]
	@$(RUN)autograder grade $(A) $(if $(S),"$(S)") --out "$(OUT)" $(ARGS)

template: $(STAMP) ## build what students get, student_template/<id>, from the solution: make template [A=attention]
	@$(RUN)autograder template $(A) $(ARGS)

release: $(PLATFORMS) ## build what goes out into dist/<id>, for every platform: make release [A=attention]
	@$(RUN)autograder release $(A) $(ARGS)

verify: $(STAMP) ## hold an assignment to all that its author promises: make verify [A=attention]
	@$(RUN)autograder verify $(A) $(if $(wildcard $(OUT)),--graded "$(OUT)") $(ARGS)

new: $(STAMP) ## lay down the skeleton of an assignment: make new A=convolution [ARGS="--exercise conv1d"]
	@$(RUN)autograder new $(A) $(ARGS)

test: $(STAMP) ## run the kit's own tests: make test [ARGS="-k intake"]
	@$(RUN)pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-platforms: $(PLATFORMS) ## run the tests that need nbgrader, otter-grader and JupyterLab
	@$(RUN)pytest tests/platforms -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

bench: $(PLATFORMS) ## measure speed and memory, nbgrader and otter-grader beside it: docs/bench.md
	@PYTHONPATH=tests $(RUN)python -m bench $(ARGS)

soak: $(STAMP) ## try for minutes to break the grader: kills, Ctrl-C, a full disk, enemies, 1,000 submissions
	@PYTHONPATH=tests $(RUN)python -m soak $(ARGS)

lint: $(STAMP) ## check style and types
	@$(RUN)ruff check . && $(RUN)ruff format --check . && $(RUN)mypy

clean: ## remove what commands have left behind, .venv too
	rm -rf .venv grades dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
