# `make check` is for every commit. `make test` is what CI runs: it installs what a fresh machine lacks, then checks everything.
# `make nightly` is what takes hours.

SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo -E)
export CARGO_TERM_COLOR ?= never
# What is built once needs no notes for the next time, which would double the space it takes.
export CARGO_INCREMENTAL ?= 0
# The compiler that rust-toolchain.toml names. Where it is installed as `stable`, rustup would download it once more.
PINNED := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq ($(PINNED),$(word 2,$(shell rustup run stable rustc --version 2>/dev/null)))
export RUSTUP_TOOLCHAIN ?= stable
endif
# Gigabytes that a run from nothing needs, with some to spare.
SPACE := 8

.PHONY: check test nightly setup format lint docs site tidy deny unit generate transport wheel explorer page validation bench

check:
	./tests/check

test: setup format tidy deny lint docs unit site
# `unit` builds the program; the site's pages are made by it.
test: export INCAST = target/debug/incast

setup:
	@free=$$(df -Pk . | awk 'NR == 2 { print int($$4 / 1048576) }'); [ -d target ] || [ "$$free" -ge $(SPACE) ] || { \
	  echo "make test needs about $(SPACE) GB of disk; $$free GB are free here" >&2; exit 1; }
	@rm -f target/skipped
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.88 or later with rustup" >&2; exit 1; }
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	@[ -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ] || \
	  rustup target add wasm32-unknown-unknown || true
	@command -v tshark >/dev/null || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends tshark; }
	@command -v valgrind >/dev/null || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends valgrind; } || true; }
	@command -v ip >/dev/null || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends iproute2; } || true; }
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends chromium; } || true; }
	@command -v npm >/dev/null || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends nodejs npm; } || true; }
	@unshare -Urnm ip link add v0 type veth peer name v1 2>/dev/null || { mkdir -p target; \
	  echo "SKIPPED: processes in network namespaces, because \`unshare -Urnm\` or \`ip\` does not work here" \
	  | tee -a target/skipped; }
	@[ -n "$$(./tests/features)" ] || { \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends libdpdk-dev pkg-config build-essential; } || true; }
	@[ -n "$$(./tests/features)" ] || { mkdir -p target; \
	  echo "SKIPPED: everything over DPDK, because libdpdk cannot be installed here (libdpdk-dev)" | tee -a target/skipped; }

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

# The Python package with the command, for every Linux with glibc 2.28 and CPython from 3.10 on: a wheel in target/wheels.
wheel:
	./tests/wheel

# The explorer and laboratory: one page, explorer/dist/index.html, which programs built afterwards carry.
# Needs Node 20.19 or later with npm.
explorer:
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20.19 or later" >&2; exit 1; }
	cd explorer && npm ci --silent
	@$(MAKE) --no-print-directory page

page:
	./explorer/build-wasm
	cd explorer && npm run --silent lint && npm run --silent build

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

# Renews the table of the release and docs/performance.md. HTSIM, a path of an `htsim_ndp`, is compared in the same run.
bench:
	cargo build --release --locked -p incast-cli
	@for case in $(CASES); do ./target/release/incast bench --runs $(RUNS) --case $$case; done | tee target/bench.txt
	UPDATE_DOCS=1 cargo bench --locked -p incast-protocols --bench guard -- renew $(CURDIR)/target/bench.txt
	$(if $(HTSIM),./tests/peer $(HTSIM))
