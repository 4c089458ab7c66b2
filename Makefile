# What this project is built, run and tested with. `make help` lists the targets.
#
# Each configuration has a scratch path of its own below .build: flags that change would otherwise rebuild everything.
#   run    release, the traits that are there          what measures; never has planted bugs
#   test   release with @testable, and the trait Zoo   tests, smoke plan
SWIFT ?= swift
PLAN ?= quick
ARGS ?=
MINUTES ?= 10
SECONDS ?= 60
PLANS ?=
BUDGET ?=
SOAK_MINUTES ?= 30
TSAN ?=
PREFIX ?= /usr/local
DESTDIR ?=
# The directory of the programs that install and deb take.
BUILD ?= .build/run/release

CHECKED = --explicit-target-dependency-import-check error
TESTS = --disable-xctest
LINTED = Sources Tests Benchmarks Examples Package.swift
IN_TEST = --scratch-path .build/test -c release -debug-info-format none -Xswiftc -enable-testing $(CHECKED)
SMOKE = .build/smoke
GUARD = .build/guard
EXPORTED = .build/exported
PAGES = .build/pages
OTHER_PAGES = .build/other-pages

.PHONY: help run build install uninstall deb test-deb controls test lint floors test-build test-release test-and-self-test smoke gate baseline self-test self-test-once plans test-client test-model-store known-truths test-debug test-tsan fuzz soak soak-round storm test-browser test-csv test-exports test-scenario docs docs-tables docs-commands format deps clean
.NOTPARALLEL:

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  %-14s %s\n", $$1, $$2}'

run: build ## install what is missing, build, run PLAN (quick) with ARGS, and say where the report is
	.build/run/release/assay run $(PLAN) $(ARGS)

build: deps ## the release build of assay, the library that its workers preload, and strata, in .build/run/release
	@set -e; traits=$$(Tools/traits); set -x; \
	$(SWIFT) build --scratch-path .build/run -c release $(CHECKED) --traits "$$traits" --product assay; \
	$(SWIFT) build --scratch-path .build/run -c release $(CHECKED) --traits "$$traits" --product AssayPreload; \
	$(SWIFT) build --scratch-path .build/run -c release $(CHECKED) --traits "$$traits" --product strata
	Benchmarks/Controls/build --only-c

install: $(if $(wildcard $(BUILD)/assay),,build) ## put assay and strata below PREFIX (/usr/local), with plans and the Swift runtime; DESTDIR is put in front
	BUILD="$(BUILD)" Tools/install "$(DESTDIR)" "$(PREFIX)"

uninstall: ## remove what make install put below PREFIX
	Tools/install --remove "$(DESTDIR)" "$(PREFIX)"

deb: $(if $(wildcard $(BUILD)/assay),,build) ## a Debian package of both tools in .build, which needs no Swift
	BUILD="$(BUILD)" Tools/deb

test-deb: $(if $(wildcard $(BUILD)/assay),,build) ## install and use the package of make deb in a chroot without Swift; says if it was skipped
	@set -e; package=$$(BUILD="$(BUILD)" Tools/deb); Tools/test-deb "$$package"

controls: deps ## build the programs that `assay verify-figures` compares with, in .build/controls
	SWIFT=$(SWIFT) Benchmarks/Controls/build

test: deps lint test-and-self-test smoke gate test-client ## install what is missing, and run everything that CI runs
	@echo "make test: all green"

lint: ## the format of every source file
	$(SWIFT) format lint --strict --parallel -r $(LINTED)

floors: ## print the rooms that have floors: folders from low to high, and exceptions
	@Tools/floors

test-build: deps ## build tests and tool as `make test` does: all traits that are there and Zoo, release
	@set -e; traits=$$(Tools/traits --with Zoo); set -x; \
	$(SWIFT) build $(IN_TEST) --build-tests --traits "$$traits"

# Hundreds of children of the tests end by a trap, as they should. With backtraces each of them would look up the names
# of every function of its program, for seconds of a core. To see where the tests themselves crash:
# SWIFT_BACKTRACE=enable=yes make test-release
test-build test-release test-and-self-test smoke gate baseline self-test self-test-once soak: export SWIFT_BACKTRACE ?= enable=no

RUN_TESTS = Tools/with-failures-last .build/test.log $(SWIFT) test --skip-build $(IN_TEST) $(TESTS)
SELF_TEST_ONCE = .build/test/release/assay self-test --one-engine --csv .build/self-test.csv

test-release: test-build ## unit, architecture and simulation tests
	@set -e; traits=$$(Tools/traits --quiet --with Zoo); set -x; $(RUN_TESTS) --traits "$$traits"

# Tests wait for their children and for disks; meanwhile the self-test uses the processor (docs/decisions/0050).
test-and-self-test: test-build ## run the tests, and the self-test at the same time
	@set -e; traits=$$(Tools/traits --quiet --with Zoo); set -x; \
	Tools/beside .build/self-test.log "nice -n 5 $(SELF_TEST_ONCE) --lanes 1" $(RUN_TESTS) --traits "$$traits"

smoke: test-build ## run the smoke plan with the tool that was built with the tests
	rm -rf $(SMOKE)
	.build/test/release/assay run smoke --out $(SMOKE)

gate: test-build ## compare Strata's counts (syncs, calls, bytes, allocations) with Benchmarks/Baselines/ci.json
	rm -rf $(GUARD)
	.build/test/release/assay run guard --out $(GUARD)
	.build/test/release/assay gate $(GUARD) --baseline ci

baseline: test-build ## save Strata's present counts as the baseline of the gate, Benchmarks/Baselines/ci.json
	rm -rf $(GUARD)
	.build/test/release/assay run guard --out $(GUARD)
	.build/test/release/assay baseline save $(GUARD) --name ci --replace

self-test: test-build ## plant mistakes under every scenario; a scenario that finds none, or misses one of its own rows, fails
	.build/test/release/assay self-test --csv .build/self-test.csv $(ARGS)

self-test-once: test-build
	$(SELF_TEST_ONCE)

# The plans run for hours on two cores, so run them before a release. They find violations that plans of a minute miss.
plans: build ## run every plan of Benchmarks/Plans with the release build, a line for each; PLANS="migration quick" runs only these, BUDGET=2m is the time of each, SOAK_MINUTES (30) that of soak
	BUDGET="$(BUDGET)" MINUTES="$(SOAK_MINUTES)" Tools/plans $(PLANS)

test-client: deps ## build and run packages that use the product Strata from outside: a client, and the examples
	Tests/Client/check
	Examples/check

test-model-store: deps ## build and run the examples, and ModelStore, which leaves a store of Core Data
	Examples/check ModelStore

known-truths: build ## test Assay on programs whose right answer is public; programs that are not installed are skipped by name. ARGS="--page docs/known-truths.md"
	Tools/known-truths $(ARGS)

docs: deps ## build one static site of guides and symbols, which opens from disk: .build/docs/index.html
	Tools/docs .build/docs

# The commands run for hours, since the clone has no builds; make test does not run them.
docs-commands: ## run every command of README and docs in a clean clone; FILES="README.md" runs only those of these pages, LIST=yes prints them
	Tools/docs-commands $(if $(LIST),--list) $(FILES)

docs-tables: build ## write the table of docs/assay.md and the number of scenarios in README.md
	Tools/docs-tables

# The copy is built from nothing, in some minutes; make test does not run it.
test-scenario: deps ## add the scenario of docs/harness.md to a copy, as that page tells it, build it and run its self-test
	SWIFT=$(SWIFT) Tools/test-scenario

test-debug: deps ## the tests of test-release in a debug build, with assertions and invariant walks on
	@set -e; traits=$$(Tools/traits --with Zoo); set -x; \
	Tools/with-failures-last .build/debug.log \
	$(SWIFT) test --scratch-path .build/debug $(CHECKED) $(TESTS) --traits "$$traits"

# The preloaded library tells the sanitizer when a contended Mutex of Swift's is locked and unlocked. Tests that preload
# a library into children, or kill workers, are not run under the sanitizer.
test-tsan: deps ## the tests of test-release under the thread sanitizer
	@set -e; traits=$$(Tools/traits --with Zoo); set -x; \
	$(SWIFT) build --scratch-path .build/tsan --sanitize=thread $(CHECKED) --build-tests --traits "$$traits"; \
	clang -O1 -shared -fPIC -o .build/tsan/tsan-mutex.so Tools/tsan-mutex.c -ldl; \
	LD_PRELOAD=$$PWD/.build/tsan/tsan-mutex.so $(SWIFT) test --skip-build --scratch-path .build/tsan --sanitize=thread \
	$(CHECKED) $(TESTS) --traits "$$traits" $(TSAN)

# libFuzzer has a main of its own. It comes first in the link, and is used instead of the main of the tests. Inputs that
# reach nothing new are dropped from the corpus.
fuzz: deps ## run libFuzzer on header slots, nodes, log, free map and whole files, SECONDS (60) each; starts from Tests/Corpus and keeps there the smallest inputs that give full coverage
	@set -e; traits=$$(Tools/traits); set -x; \
	$(SWIFT) build --scratch-path .build/fuzz -c release -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer \
	-Xswiftc -use-ld=lld -Xlinker --allow-multiple-definition -Xswiftc -DFuzzing $(CHECKED) --build-tests --traits "$$traits"
	@set -e; for target in slot node log file freeMap; do \
	work=.build/fuzz/run/$$target; corpus=Tests/Corpus/$$target; mkdir -p $$work $$work-seeds $$work-small; \
	Tools/fuzz $$target $$work $$corpus $$work-seeds -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=4096 \
	-print_final_stats=1; rm -f $$work-small/*; \
	Tools/fuzz $$target -merge=1 $$work-small $$corpus $$work $$work-seeds; \
	find $$corpus -type f ! -name 'found-*' -delete; cp $$work-small/* $$corpus; done

# The seeds come from the clock, so that no two runs are the same; each failure prints its seed and how to repeat it.
soak: test-build ## crash, fault, schedule and history simulation of storage for MINUTES (10), with fresh seeds
	@set -e; traits=$$(Tools/traits --quiet --with Zoo); first=$$(date +%s)000; end=$$(($$(date +%s) + $(MINUTES) * 60)); \
	round=0; while [ $$(date +%s) -lt $$end ]; do seed=$$((first + round * 100)); \
	echo "soak: seeds from $$seed; all of this round again: SIMULATION_SEED=$$seed make soak-round"; \
	$(MAKE) --no-print-directory soak-round SIMULATION_SEED=$$seed; round=$$((round + 1)); done

soak-round:
	@set -e; traits=$$(Tools/traits --quiet --with Zoo); \
	SIMULATION_SEED=$(SIMULATION_SEED) SIMULATION_SECONDS=$${SIMULATION_SECONDS:-20} SIMULATION_FULL=1 \
	$(SWIFT) test --skip-build $(IN_TEST) $(TESTS) --traits "$$traits" \
	--filter '^Simulation\.(Store|History)SimulationTests|^Simulation\.ScheduleTests'

# MINUTES counts only if the command line sets it: its default above, 10, is for soak.
storm: test-build ## random accesses to objects that other threads delete, under both policies, for MINUTES (30), with seeds from STORM_SEED on
	@set -e; traits=$$(Tools/traits --quiet --with Zoo); \
	STORM_MINUTES=$(if $(filter file,$(origin MINUTES)),30,$(MINUTES)) STORM_SEED=$${STORM_SEED:-$$(date +%s)} GONE_TRAPS=all \
	$(SWIFT) test --skip-build $(IN_TEST) $(TESTS) --traits "$$traits" --filter '^StrataTests\.Gone(Storm|Access)Tests'

test-browser: ## render the report of the smoke plan and every other kind of page in headless Chromium; a message in its console fails, and a table cut off on paper
	@Tools/deps chromium
	@[ -f $(SMOKE)/report.html ] || $(MAKE) smoke
	Tools/browser-check $(SMOKE)/report.html
	rm -rf $(OTHER_PAGES)
	.build/test/release/assay ab --a .build/test/release/assay --b .build/test/release/assay --allow-zoo \
	--scenario point-read --engine model --size 2000 --budget 30s --out $(OTHER_PAGES)/ab || [ $$? -eq 3 ]
	for part in 1 2; do .build/test/release/assay run smoke --scenario bit-flip,truncate --shard $$part/2 \
	--out $(OTHER_PAGES)/part-$$part || [ $$? -eq 3 ] || exit 1; done
	.build/test/release/assay merge $(OTHER_PAGES)/part-1 $(OTHER_PAGES)/part-2 --out $(OTHER_PAGES)/merged
	Tools/browser-check $(OTHER_PAGES)/ab/ab.html $(OTHER_PAGES)/merged/report.html
	@command -v perf >/dev/null || echo "SKIPPED the page of a profile: there is no perf (apt-get install linux-perf)"
	@set -e; command -v perf >/dev/null || exit 0; set -x; \
	.build/test/release/assay run quick --scenario point-read --engine model --size 2000 --profile perf \
	--out $(OTHER_PAGES)/profiled; Tools/browser-check $(OTHER_PAGES)/profiled/profiles/*.html
	@Tools/traits --has SQLite || echo "SKIPPED pages of the history: there is no libsqlite3-dev"
	@set -e; Tools/traits --has SQLite || exit 0; set -x; rm -rf $(PAGES); \
	.build/test/release/assay history add $(SMOKE) --db $(PAGES)/history.sqlite >/dev/null; \
	.build/test/release/assay history site $(PAGES)/site --db $(PAGES)/history.sqlite; \
	Tools/browser-check $(PAGES)/site/index.html $(PAGES)/site/run-*.html $(PAGES)/site/workload-commit*.html
	@[ -f .build/docs/index.html ] || $(MAKE) docs
	Tools/browser-check --in-place .build/docs/index.html .build/docs/docs/README.html .build/docs/symbols/index.html

test-csv: ## load the results.csv of the smoke plan with pandas and DuckDB; says if it was skipped
	@[ -f $(SMOKE)/results.csv ] || $(MAKE) smoke
	Tools/csv-check $(SMOKE)/results.csv

test-exports: build ## write a small run in every format of `assay export`, and read each back with programs from PyPI
	@[ -f $(EXPORTED)/run.json ] || .build/run/release/assay run quick --scenario point-read,commit \
	--engine strata,sqlite --out $(EXPORTED) || [ $$? -eq 3 ]
	Tools/read-exports .build/run/release/assay $(EXPORTED)

format: ## bring every source file into the format that lint wants
	$(SWIFT) format -i --parallel -r $(LINTED)

deps: ## install the packages that are missing (apt-get); does nothing if all are installed
	@Tools/deps

clean: ## remove what was built
	rm -rf .build Tests/Client/.build Examples/*/.build Benchmarks/Controls/Strata/.build
