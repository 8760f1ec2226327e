# The two commands of the README are `make demo` and `make test`. Both install what is missing.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-all bench experiment fuzz setup clis generate postgres format lint layers unit sdk api dashboard docs slim bless

# What releases switch on: tested as it is released, while `make demo` and `docs` build without.
RELEASED := --features airtight/otlp

help: ## Show what there is to type
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: setup ## Build, fetch weights, answer three contracts in the process, judge two answers
	cargo build --locked --package airtight
	@scripts/demo target/debug/airtight

test: setup clis generate postgres format lint layers unit sdk api dashboard docs slim ## Everything that must hold before a change lands

test-all: test ## The same, and opencode, which is slow
	@scripts/setup clis all
	cargo nextest run --package airtight $(RELEASED) --locked --test via --run-ignored only

setup:
	@scripts/setup

# The real agent CLIs, which tests drive against the scripted server.
clis:
	@scripts/setup clis

# The compilers that generated code is tested with.
generate:
	@scripts/setup generate

# The server that the tests of the ledger start.
postgres:
	@scripts/setup postgres

format:
	cargo fmt --all -- --check

lint:
	cargo clippy --workspace --all-targets $(RELEASED) --locked -- -D warnings

layers:
	scripts/layers --self-test
	scripts/layers

unit:
	cargo nextest run --workspace $(RELEASED) --locked --no-fail-fast
	cargo test --workspace $(RELEASED) --locked --doc --quiet

# The vendors' own clients against the scripted server.
sdk:
	@scripts/sdk

# What the OpenAPI document allows, and what it does not, against a running server.
api:
	@scripts/api

# Every page in a real browser, over a ledger that the real programs filled.
dashboard:
	@scripts/dashboard

# Generated pages are compared by tests; this builds the API documentation.
docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace $(RELEASED) --locked --no-deps --quiet

# Without the embedded model, which is a crate of its own. As a test of the whole workspace, so that foreign
# crates are those of `unit`: for one package cargo chooses other features, and would build eighty of them
# again. It leaves that program at target/debug/airtight, where the other tests look for theirs, and so comes
# last: the next `cargo` that is asked for the usual one puts it back, built or not.
slim:
	cargo nextest run --workspace --no-default-features --features airtight/cli $(RELEASED) --locked --test slim

bless: setup ## Write the generated pages and snapshots again
	AIRTIGHT_BLESS=1 TRYCMD=overwrite INSTA_UPDATE=always cargo nextest run --workspace $(RELEASED) --no-fail-fast

bench: setup ## Measure against today's tools and agents, in one run
	@scripts/setup bench
	@bench/run

# How often a review cannot be used, by how it was asked for: docs/experiments/review.md.
EXPERIMENT ?= --answers 100
experiment: setup ## Failure rates of reviews: prose, few-shot, schema, tool, grammar (about an hour)
	cargo build --release --locked --package airtight --bin airtight --example measure_review
	@target/release/airtight models pull
	target/release/examples/measure_review "$$(target/release/airtight models path)" $(EXPERIMENT)

FUZZ_SECONDS ?= 60
fuzz: setup ## Fuzz each target for FUZZ_SECONDS (60)
	@scripts/setup fuzz
	@scripts/fuzz $(FUZZ_SECONDS)
