# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Needed beforehand: Python 3.11 or later, Rust (cargo), a C compiler.

PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
BIN := $(VENV)/bin
BUILD := .build
# The part of `make soak` that `make test` runs: so many seconds of damaged dumps and of damaged reports.
FUZZ_SECONDS ?= 60
FUZZ_REPORT_SECONDS ?= 30
FUZZ_COPIES ?= 100000
# Seconds of `make soak`.
SECONDS ?= 3600
# Seconds of mutants of each other kind of input: reports, traces, catalogue, layouts, scenarios, answers of a DDS.
FUZZ_KIND_SECONDS ?= 2
# `make soak` sets --release. `make test` damages dumps with the program that `rust-test` has compiled: to compile another
# takes longer than it then runs.
FUZZ_PROFILE ?=
# CPU seconds of the Python tests of `make check`.
CHECK_SECONDS ?= 90

# Tests start hundreds of commands: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

.PHONY: demo test tests check soak audit test-times lint types rust-test python-test python-test-first python-test-second python-test-third python-test-fourth spark-test load-test storage-test fuzz fuzz-guided fuzz-guided-dumps fuzz-guided-kinds fuzz-corpus docs goldens hooks man sbom dist bundle benchmarks clean prerequisites browser java

demo: $(BUILD)/core
	@mkdir -p out
	@$(BIN)/plexlens example -o out/example.smf && $(BIN)/plexlens report out/example.smf -o out/example.html & \
	published=$$!; \
	$(BIN)/plexlens example --day -o out/day.smf && \
	$(BIN)/plexlens ingest out/day.smf --pdb out/day && \
	$(BIN)/plexlens report out/day -o out/report.html \
	  --title "A simulated day: 10 s of each 10 min were simulated, and stand for all of it" && \
	wait $$published
	@echo
	@echo "out/report.html is a simulated day of a sysplex, in which something begins at 14:10: open it in a browser."
	@echo "out/example.html has the figures of published studies."
	@echo "To look around in the day: $(BIN)/plexlens serve out/day"

test: lint types tests
	@echo "make test: everything passed"

# Daily use, in three minutes: lint, types, and the tests of what differs from where the branch left main.
check: lint types
	$(BIN)/python -m tools.changed_tests --seconds $(CHECK_SECONDS)

# The long run: properties with all their examples, a kill and a refusal at every step of every writer, three writers and
# two readers, then damaged dumps and mutants of every other input for what is left of SECONDS, each time with other random
# numbers.
soak: $(BUILD)/core
	@begin=$$(date +%s) && set -e && \
	PLEXLENS_SOAK=1 $(BIN)/pytest tests -m drawn && \
	PLEXLENS_SOAK=1 PLEXLENS_FUZZ_SEED=$$begin $(BIN)/pytest -s tests/pdb/test_crash.py tests/pdb/test_crash_upkeep.py \
	  tests/pdb/test_together.py tests/cli/test_crash_outputs.py && \
	PROPTEST_CASES=5000 $(CARGO) test --quiet --locked --release --workspace && \
	left=$$(($(SECONDS) - $$(date +%s) + $$begin)) && if [ $$left -lt 60 ]; then left=60; fi && \
	PLEXLENS_FUZZ_SEED=$$begin $(MAKE) --no-print-directory fuzz FUZZ_PROFILE=--release FUZZ_COPIES=1000000000 \
	  FUZZ_REPORT_SECONDS=$$((left / 8)) FUZZ_KIND_SECONDS=$$((left / 24)) FUZZ_SECONDS=$$((left / 4)) && \
	$(MAKE) --no-print-directory fuzz-guided GUIDED_SECONDS=$$((left / 8)) GUIDED_KIND_SECONDS=$$((left / 96))

# The table of docs/testing.md: how long each stage of `make test` takes in a new clone, and then again.
test-times:
	@$(PYTHON) -m tools.stage_times

# --- set-up -------------------------------------------------------------------------------------------------

prerequisites:
	@missing=; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || missing="$$missing\n  Python 3.11 or later: $(PYTHON) is $$($(PYTHON) --version 2>&1 || echo not there); set PYTHON=..."; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || missing="$$missing\n  the Python modules venv and ensurepip (Debian: python3-venv)"; \
	command -v $(CARGO) >/dev/null 2>&1 \
	  || missing="$$missing\n  Rust: cargo is not on the path (https://rustup.rs)"; \
	command -v cc >/dev/null 2>&1 \
	  || missing="$$missing\n  a C compiler: cc is not on the path (Debian: gcc)"; \
	if [ -n "$$missing" ]; then printf "Plexlens cannot be built; missing:$$missing\n" >&2; exit 1; fi

$(BUILD)/venv: requirements.lock | prerequisites
	@mkdir -p $(BUILD)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing Python packages"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(BUILD)/core: $(BUILD)/venv pyproject.toml README.md $(RUST_SOURCES)
	@echo "building the compiled core (some minutes the first time)"
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked >$(BUILD)/core.log 2>&1 \
	  || { cat $(BUILD)/core.log >&2; exit 1; }
	@touch $@

# The browser tests need a real browser.
browser:
	@command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; } \
	  || { echo "the browser tests need Chromium and its driver (Debian: apt-get install chromium chromium-driver)" >&2; exit 1; }

# Before each commit: what is staged can be parsed, and its message says what changes and why.
hooks:
	git config core.hooksPath .ci/hooks

# --- checks -------------------------------------------------------------------------------------------------

lint: $(BUILD)/core
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path crates/smf/fuzz/Cargo.toml --check
	$(CARGO) clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(BIN)/python -m plexlens.metrics.reference --check docs/metrics.md
	$(BIN)/python -m plexlens.findings.reference --check docs/findings.md
	$(BIN)/python -m tools.study_reference --check docs/studies.md
	$(BIN)/python -m tools.study_formulas --check studies/README.md
	$(BIN)/python -m tools.parts --check NOTICE
	@if command -v cargo-deny >/dev/null 2>&1; \
	then $(CARGO) deny --offline --locked --log-level error check licenses bans sources; \
	else echo "cargo-deny is not installed: licences and sources of crates are checked by tools.parts alone"; fi
	$(BIN)/python -m tools.english

types: $(BUILD)/core
	$(BIN)/mypy

rust-test: export PROPTEST_RNG_SEED ?= 20261130
rust-test:
	$(CARGO) test --quiet --locked --workspace

# Four parts at the same time: fewer leave the cores idle while a test waits for a server, a disk or a browser. The Rust
# tests and the fuzz begin when the first part has ended. Folders that are not named here are in the fourth.
FIRST_PART := capacity compare ingest metrics
SECOND_PART := docs pools serve why
THIRD_PART := api cli golden hand_over pdb sharing simulate
PYTHON_PARTS := python-test-first python-test-second python-test-third python-test-fourth

# Rules of accessibility for the tests of pages, pinned in tests/report/axe; nothing of them is shipped.
$(BUILD)/axe: tests/report/axe/package.json tests/report/axe/package-lock.json
	@command -v npm >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq npm >/dev/null; } \
	  || { echo "the browser tests need npm for axe-core (Debian: apt-get install npm)" >&2; exit 1; }
	@mkdir -p $@ && cp tests/report/axe/package.json tests/report/axe/package-lock.json $@
	@cd $@ && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

tests: $(BUILD)/core $(BUILD)/axe browser
	@$(MAKE) --no-print-directory -j4 --output-sync=target $(PYTHON_PARTS) rust-test fuzz

python-test: $(BUILD)/core $(BUILD)/axe browser
	@$(MAKE) --no-print-directory -j4 --output-sync=target $(PYTHON_PARTS)

python-test-first:
	$(BIN)/pytest $(addprefix tests/,$(FIRST_PART))

python-test-second:
	$(BIN)/pytest $(addprefix tests/,$(SECOND_PART))

python-test-third:
	$(BIN)/pytest $(addprefix tests/,$(THIRD_PART))

python-test-fourth:
	$(BIN)/pytest tests $(addprefix --ignore=tests/,$(FIRST_PART) $(SECOND_PART) $(THIRD_PART))

# Extras, each in an environment of its own, which sees that of the other tests: Plexlens on Spark, the driver of load
# tests (Locust), a database on object storage with an S3 server, and the fuzzer of Python (Atheris).
EXTRAS := spark load storage guided

$(addprefix $(BUILD)/,$(EXTRAS)): $(BUILD)/%: requirements-%.lock $(BUILD)/core
	@$(PYTHON) -m venv $@
	@echo "import site; site.addsitedir('$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')')" \
	  > "$$($@/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/plexlens.pth"
	@$@/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(BUILD)/spark: | java

java:
	@command -v java >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq openjdk-17-jre-headless >/dev/null; } \
	  || { echo "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)" >&2; exit 1; }

spark-test: $(BUILD)/spark
	PYSPARK_PYTHON=$(abspath $(BUILD)/spark/bin/python) $(BUILD)/spark/bin/python -m pytest tests/spark

load-test: $(BUILD)/load
	$(BUILD)/load/bin/python -m pytest tests/driver tests/lab tests/load

storage-test: $(BUILD)/storage
	$(BUILD)/storage/bin/python -m pytest tests/storage

# Damaged dumps and mutants of every other input, so many or for so long: no panic, no traceback, bounded time and memory,
# bytes that add up, no intact record lost.
fuzz: $(BUILD)/core
	PLEXLENS_FUZZ_SECONDS=$(FUZZ_REPORT_SECONDS) PLEXLENS_FUZZ_COPIES=$(FUZZ_COPIES) $(BIN)/pytest -q -s tests/ingest/test_text_fuzz.py -k stated_time
	PLEXLENS_FUZZ_SECONDS=$(FUZZ_KIND_SECONDS) PLEXLENS_FUZZ_COPIES=$(FUZZ_COPIES) $(BIN)/pytest -q -s tests/mutants
	PLEXLENS_FUZZ_SECONDS=$(FUZZ_SECONDS) PLEXLENS_FUZZ_COPIES=$(FUZZ_COPIES) $(CARGO) test --quiet --locked $(FUZZ_PROFILE) --package plexlens-smf --test fuzz -- --nocapture

# Inputs that libFuzzer changes towards code not yet reached: dumps for GUIDED_SECONDS, each other kind for
# GUIDED_KIND_SECONDS; what it finds stays in .build/inputs. The flags of the first are those of cargo-fuzz, whose program is not
# needed.
GUIDED_SECONDS ?= 600
GUIDED_KIND_SECONDS ?= 60
GUIDED_FLAGS := --cfg fuzzing -C passes=sancov-module $(addprefix -C llvm-args=-sanitizer-coverage-,\
  level=4 inline-8bit-counters pc-table trace-compares)
GUIDED := crates/smf/fuzz
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
INPUTS := $(BUILD)/inputs

fuzz-guided: fuzz-guided-dumps fuzz-guided-kinds

fuzz-guided-dumps:
	@mkdir -p $(INPUTS)/dump
	PLEXLENS_FUZZ_SEEDS=$(abspath $(INPUTS)/dump) $(CARGO) test --quiet --locked --package plexlens-smf --test fuzz seeds
	RUSTFLAGS="$(GUIDED_FLAGS)" $(CARGO) build --quiet --locked --release --target $(HOST) \
	  --manifest-path $(GUIDED)/Cargo.toml --target-dir target/guided
	target/guided/$(HOST)/release/dump $(INPUTS)/dump $(GUIDED)/corpus -artifact_prefix=$(BUILD)/failed- \
	  -max_total_time=$(GUIDED_SECONDS) -max_len=4096 -timeout=5 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1

fuzz-guided-kinds: $(BUILD)/guided
	$(BUILD)/guided/bin/python -m tests.mutants.guided $(INPUTS) -artifact_prefix=$(BUILD)/failed- \
	  -max_total_time=$(GUIDED_KIND_SECONDS)

# The corpus anew: of all inputs the fewest that reach the same code, the shortest first.
fuzz-corpus:
	@test -d $(INPUTS)/dump || { echo "there is no $(INPUTS)/dump: run make fuzz-guided-dumps first" >&2; exit 1; }
	@mkdir -p $(BUILD)/corpus
	target/guided/$(HOST)/release/dump -merge=1 $(BUILD)/corpus $(GUIDED)/corpus $(INPUTS)/dump

docs: $(BUILD)/core
	$(BIN)/python -m plexlens.metrics.reference docs/metrics.md
	$(BIN)/python -m plexlens.findings.reference docs/findings.md
	$(BIN)/python -m tools.study_reference docs/studies.md
	$(BIN)/python -m plexlens.ingest.printed.reference
	$(BIN)/python -m tools.study_formulas studies/README.md
	$(BIN)/python -m tools.scenario_keys docs/scenario-keys.md
	$(BIN)/python -m tools.parts NOTICE
	@mkdir -p $(BUILD)
	$(BIN)/python -m tools.case_1996 > $(BUILD)/sysplex-1996.md && mv $(BUILD)/sysplex-1996.md docs/sysplex-1996.md
	$(BIN)/python -m tools.case_2008 > $(BUILD)/xml-2008.md && mv $(BUILD)/xml-2008.md docs/xml-2008.md

# Output of every command as it was last reviewed; read the difference of the files like code.
goldens: $(BUILD)/core
	PLEXLENS_UPDATE_GOLDEN=1 $(BIN)/pytest tests/golden/test_pages.py tests/compare/test_golden.py

# Known weaknesses of crates and Python packages. Both databases come from the network, so no other target needs this.
# Strict, because pip-audit otherwise finds no weakness in packages that it could not ask about, and ends with 0.
audit: $(BUILD)/core
	$(CARGO) deny --locked check advisories
	$(BIN)/python -m pip_audit --strict --require-hashes --disable-pip --requirement requirements.lock

# Every locked package with its hashes and licence (CycloneDX).
sbom: $(BUILD)/core
	@mkdir -p out
	$(BIN)/python -m tools.parts --sbom out/plexlens.cdx.json

# --- delivery -----------------------------------------------------------------------------------------------

# Man pages of every command; the wheel takes them from here.
man: $(BUILD)/core
	$(BIN)/python -m tools.man_pages man/data/share/man/man1

# A wheel for this platform and every Python from 3.11 on, the sources, and the bill of materials. The wheel has the core
# that `.build/core` compiled: nothing is compiled again.
dist: man
	@mkdir -p dist && rm -f dist/plexlens-*
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin build --quiet --release --locked --out dist
	$(BIN)/maturin sdist --out dist
	$(BIN)/python -m tools.parts --sbom dist/plexlens.cdx.json

# Everything that a machine without network needs, in one ZIP; installed from it in an empty environment before it is written.
bundle: dist
	$(BIN)/python -m tools.bundle dist

benchmarks: $(BUILD)/core
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(BUILD) $(VENV) target out dist
