# The front door. Every target does all the set-up that it needs, by itself; a second run starts its work at once.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
# Every start of Python would compile the whole program anew, and pytest every test.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv/bin
CMAKE := $(VENV)/cmake
PYTEST := $(VENV)/python -m pytest
# What starts no job and no lab and times nothing: two at a time, long files first, so that none is left over for the end.
LONGER := fuzz contract browser security tune docs api bmc packaging property audit golden
PURE := tests/frozen $(filter-out tests/truth/test_lies.py,$(wildcard tests/truth/test_*.py)) \
        $(patsubst %,tests/cli/test_%.py,audit bad_input catalogue completion dossier explain explain_rates gate judge judge_psm3 ladder lint loudness pfc plan) \
        $(patsubst %,tests/cli/test_%.py,prove_cli report run sysfs_root tune verbs) \
        $(addprefix tests/,$(LONGER) $(filter-out $(LONGER) frozen truth cli lab mpi slurm vm,$(notdir $(patsubst %/.,%,$(wildcard tests/[a-z]*/.))))) \
        $(patsubst %,tests/lab/test_%.py,commands state topology wire_file) $(patsubst %,tests/cli/test_%.py,manual version)
# A process that ends within a test is not replaced: by files, pytest-xdist then waits for ever.
IN_TWO := -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# Labs and jobs that wait more than they compute, and whose answers hold on a busy machine: two chains beside the former,
# each of half the length; jobs of MPI compute most and are in one of them. The rest judges rates, or looks for new
# listeners of this machine, and has the machine to itself.
JOBS := tests/mpi tests/slurm tests/cli/test_tune_hosts.py tests/cli/test_tune_try.py tests/cli/test_lab_runs.py \
        tests/truth/test_lies.py
LABS := $(patsubst %,tests/lab/test_%.py,audit_lab docs_lab lab_agent lab_crash lab_nodes lab_rootless lab_ssh) \
        $(patsubst %,tests/lab/test_%.py,check_names_setting contention study_lab) \
        $(patsubst %,tests/lab/test_%.py,node_guard prove_lab psm3_lab run_tools stacked_ports tune_lab tune_try_lab) \
        $(patsubst %,tests/lab/test_%.py,ofi pfc_lab tcp_nic)
CTEST := WIREPROOF_TEST_MPICH_INCLUDE=$(CURDIR)/.venv/include $(VENV)/ctest --test-dir build --output-on-failure
# Which tenth of the slow tests `make test` runs: the next with each commit. `make test SLOW_TURN=3` repeats one.
SLOW_TURN ?= $(shell echo $$(( $$(git rev-list --count HEAD 2>/dev/null || date +%s) % 10 )))
TURN = $(PYTEST) --slow-turn $(SLOW_TURN)
CONFIGURE := $(CMAKE) -S . -B build -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(VENV)/ninja \
             -DCMAKE_EXPORT_COMPILE_COMMANDS=ON

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: engine ## a virtual cluster with two planted faults, found and reported (under a minute)
	@rm -rf build/demo
	$(VENV)/wireproof demo --out build/demo

.PHONY: test
test: engine-tests ## engine, unit, contract, lab and MPI tests, and a tenth of the slow ones (some 14 minutes on 2 cores)
	$(CTEST) --timeout 300
	@echo "slow tests, turn $(SLOW_TURN) of 10: make test SLOW_TURN=$(SLOW_TURN) repeats it"
	$(TURN) $(JOBS) >build/jobs.log 2>&1 & jobs=$$!; \
	    $(TURN) $(LABS) >build/labs.log 2>&1 & labs=$$!; \
	    $(TURN) $(IN_TWO) $(PURE); pure=$$?; \
	    wait $$jobs; jobs=$$?; wait $$labs; labs=$$?; \
	    cat build/jobs.log build/labs.log; exit $$((pure | jobs | labs))
	$(TURN) $(addprefix --ignore=,$(PURE) $(JOBS) $(LABS))

.PHONY: quick
quick: .venv/.lint engine ## what a change needs before its commit: lint, types, sizes, the tests that reach it (a minute)
	@$(VENV)/python tools/quick.py

.PHONY: frozen
frozen: .venv/.test engine ## what is judged and printed, against what is recorded (WRITE=1 records it anew)
	$(VENV)/python -m tests.frozen $(if $(WRITE),--write)

.PHONY: test-all
test-all: .venv/.all engine-tests ## everything: slow tests, aarch64 under qemu, wheel and sdist
	$(CTEST) --timeout 600
	tools/test-aarch64
	$(PYTEST)

.PHONY: test-fresh
test-fresh: ## make test and make demo in a bare Debian 12 (root only)
	tools/setup fresh
	tests/packaging/fresh.sh test demo

.PHONY: lint
lint: .venv/.lint engine-tests ## formatting, types, lint, import law, sizes
	$(VENV)/ruff check
	$(VENV)/ruff format --check
	$(VENV)/mypy
	$(VENV)/python tools/check_import_law.py
	$(VENV)/python tools/sizes.py
	tools/lint-cpp

.PHONY: bench
bench: .venv/.bench engine ## our numbers beside IMB's (and OSU's with OSU_HOME=), paired in one run
	$(VENV)/python -m benchmarks

.PHONY: docs
docs: .venv/.docs ## the pages as a site in build/site, which needs no network
	$(VENV)/python tools/pages.py build/pages
	$(VENV)/python -m sphinx -q -W --keep-going -b html -c docs build/pages build/site
	@echo "build/site/index.html"

.PHONY: man
man: .venv/.run ## manual pages in man/man1
	$(VENV)/wireproof help --man man

.PHONY: wheel
wheel: .venv/.run man ## sdist and manylinux wheel in dist/, with the manual pages; prints their SHA-256
	$(VENV)/python -m pip install -q build wheel
	$(VENV)/python tools/build_wheel.py dist

.PHONY: wheelhouse
wheelhouse: wheel ## wheels of wireproof and all it needs, for a head node without network, in dist/wheelhouse
	rm -rf dist/wheelhouse
	$(VENV)/python -m pip wheel -q --wheel-dir dist/wheelhouse dist/wireproof-$$($(VENV)/python tools/project_version.py)-*.whl
	cd dist/wheelhouse && sha256sum *.whl >SHA256SUMS
	@$(VENV)/python -c 'import sys; print("Copy dist/wheelhouse to a machine with Python %d.%d, and there:" % sys.version_info[:2]); \
	    print("  (cd wheelhouse && sha256sum -c --quiet SHA256SUMS)"); \
	    print("  python%d.%d -m venv ~/wireproof-env" % sys.version_info[:2]); \
	    print("  ~/wireproof-env/bin/pip install --no-index --find-links wheelhouse wireproof")'

.PHONY: zipapp
zipapp: wheelhouse ## one file for a head node without network: dist/wireproof.pyz unpacks itself and starts
	$(VENV)/python tools/build_zipapp.py dist/wheelhouse dist/wireproof.pyz

.PHONY: sbom
sbom: .venv/.run ## what an installation holds, as CycloneDX, in dist/wireproof.cdx.json
	$(VENV)/python -m pip install -q "packaging>=24"
	$(VENV)/python tools/sbom.py dist/wireproof.cdx.json

.PHONY: clean
clean: ## remove what was built (not .venv and .deps)
	rm -rf build dist man .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: distclean
distclean: clean ## remove everything that make has made
	rm -rf .venv .deps

.PHONY: engine
engine: build/.configured ## build the engine programs into build/
	@$(CMAKE) --build build --target engines

.PHONY: engine-tests
engine-tests: build/.configured-tests
	@$(CMAKE) --build build

.venv/.run .venv/.test .venv/.bench .venv/.lint .venv/.docs .venv/.all: .venv/.%: pyproject.toml tools/setup tools/packages
	@tools/setup $*

build/.configured: .venv/.run CMakeLists.txt
	@$(CONFIGURE)
	@touch $@

build/.configured-tests: .venv/.test CMakeLists.txt
	@$(CONFIGURE) -DWIREPROOF_TESTS=ON
	@touch $@ build/.configured
