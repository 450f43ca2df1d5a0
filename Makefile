# `make check` is for every commit. `make test` is what CI runs: it installs what a fresh machine lacks, then checks everything.
# `make nightly` is what takes hours.

export CARGO_TERM_COLOR ?= never
# What is built once needs no notes for the next time, which would double the space it takes.
export CARGO_INCREMENTAL ?= 0
# The compiler that rust-toolchain.toml names. Where it is installed as `stable`, rustup would download it once more.
PINNED := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq ($(PINNED),$(word 2,$(shell rustup run stable rustc --version 2>/dev/null)))
export RUSTUP_TOOLCHAIN ?= stable
endif

.PHONY: check test nightly setup format lint docs site tidy deny unit generate transport release wheel explorer page shots validation bench

check:
	./tests/check

test: setup format tidy deny lint docs unit site
	@./tests/site look
	@./tests/skipped
	@cat target/count
# `unit` builds the program; the site's pages are made by it.
test: export INCAST = target/debug/incast

setup:
	@./tests/setup

format:
	cargo fmt --all -- --check

lint:
	./tests/lint

docs:
	RUSTDOCFLAGS="-D warnings" cargo $$(./tests/toolchain) doc --workspace --no-deps --locked --quiet --target-dir target/oldest \
	  $$(./tests/features)

# The pages of docs/ and what they link to, in target/site.
site:
	./tests/site

tidy:
	./tests/tidy

deny:
	./tests/deny

unit:
	./tests/unit

nightly:
	./tests/nightly

# Everything in the repository that is made from the program.
generate:
	./tests/generate

# A new transport: make transport NAME=x
transport:
	cargo run --quiet --locked -p incast-protocols --example new_transport -- $(NAME)
	cargo fmt -p incast-protocols

# The command as releases have it, compiled with a profile of short runs of the benchmark: target/profile/incast. Takes three builds' time.
release:
	./tests/release

# The Python package with the command, for every Linux with glibc 2.28 and CPython from 3.10 on: a wheel in target/wheels.
wheel:
	./tests/wheel

# The explorer and laboratory: one page, explorer/dist/index.html, which programs built afterwards carry.
explorer:
	@./explorer/prepare
	@$(MAKE) --no-print-directory page

page:
	./explorer/build-wasm
	cd explorer && ./node npm run --silent lint && ./node npm run --silent build

# Pictures of every page, of the site and of what the program writes, at three widths, light and dark: target/shots.
# PAGES='index transports/' takes a page and a folder. Tells which are too wide or too long.
shots: site
	@./explorer/prepare
	./explorer/node node explorer/tests/shots.mjs

# Our half of docs/validation.md: computes each number again and compares the page with it.
validation:
	cargo test --release --locked -p incast-experiment --test all validation::
	cargo test --release --locked -p incast-sim --test all validity::
	cargo test --release --locked -p incast-protocols --test all conformance::a_lone
	cargo test --release --locked -p incast-experiment --test all sizes::a_lone
	cargo test --release --locked -p incast-experiment --test all switching::
	cargo run --release --locked -- run docs/validation/hpcc_pairs.toml --csv --out target/validation --force

# Cases of `incast bench` of which docs/performance gets the share of the kernel's speed, and how often each is run.
CASES := permutation incast web_search/dctcp web_search/ren web_search/ndp
RUNS := 3

# Renews the table of the release and docs/performance.md. HTSIM, a path of an `htsim_ndp`, and NS3, where ns-3 is installed, are
# compared in the same run.
bench:
	cargo build --release --locked -p incast-cli
	@for case in $(CASES); do ./target/release/incast bench --runs $(RUNS) --case $$case; done | tee target/bench.txt
	UPDATE_DOCS=1 cargo bench --locked -p incast-protocols --bench guard -- renew $(CURDIR)/target/bench.txt
	$(if $(HTSIM),./tests/peer $(HTSIM))
	$(if $(NS3),./tests/peer-ns3 $(NS3))
