-- Words in braces differ between databases: see `dialect.rs`.

-- Processes that have lived long enough to be asked after.
CREATE TABLE owners (
    id TEXT NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);

CREATE TABLE contracts (
    fingerprint TEXT {BYTES} NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    schema TEXT NOT NULL,
    coded TEXT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    PRIMARY KEY (fingerprint, name, version)
);

-- Narrow: lists and scans read this table alone.
CREATE TABLE runs (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    parent TEXT {BYTES},
    job_key TEXT {BYTES},
    fingerprint TEXT NOT NULL,
    contract TEXT NOT NULL,
    contract_version TEXT NOT NULL,
    driver TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    token TEXT NOT NULL,
    owner TEXT NOT NULL,
    outcome TEXT,
    rung TEXT,
    valid BIGINT NOT NULL,
    review TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    early_cancels BIGINT NOT NULL,
    tokens_saved BIGINT NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cache_read_tokens BIGINT,
    cache_write_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_nano BIGINT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    elapsed_ms BIGINT,
    batch TEXT,
    place BIGINT,
    level TEXT NOT NULL,
    keep_ms BIGINT,
    expires_at BIGINT
);
CREATE UNIQUE INDEX runs_by_id ON runs (id);
CREATE UNIQUE INDEX runs_by_key ON runs (job_key) WHERE job_key IS NOT NULL;
CREATE INDEX runs_not_over ON runs (seq) WHERE state <> 'done';
CREATE INDEX runs_flagged ON runs (seq) WHERE review = 'flagged';
CREATE INDEX runs_expiring ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_of_batch ON runs (batch, seq) WHERE batch IS NOT NULL;
CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;

-- Wide, and written once each: what was asked, and what came of it.
CREATE TABLE questions (
    run BIGINT NOT NULL PRIMARY KEY,
    prompt TEXT,
    system TEXT,
    input TEXT,
    coded TEXT NOT NULL
);
CREATE TABLE answers (
    run BIGINT NOT NULL PRIMARY KEY,
    output TEXT,
    parsed TEXT,
    errors TEXT,
    edits TEXT,
    losses TEXT,
    coded TEXT NOT NULL
);

CREATE TABLE attempts (
    run BIGINT NOT NULL,
    number BIGINT NOT NULL,
    state TEXT NOT NULL,
    token TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    ending TEXT,
    rung TEXT,
    output TEXT,
    violations TEXT,
    error TEXT,
    coded TEXT NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cache_read_tokens BIGINT,
    cache_write_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_nano BIGINT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (run, number)
);

CREATE TABLE events (
    run BIGINT NOT NULL,
    number BIGINT NOT NULL,
    told_at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT,
    coded TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE decisions (
    run BIGINT NOT NULL,
    token TEXT NOT NULL,
    review TEXT NOT NULL,
    who TEXT NOT NULL,
    note TEXT,
    value_before TEXT,
    value_after TEXT,
    coded TEXT NOT NULL,
    told_at BIGINT NOT NULL,
    PRIMARY KEY (run, token)
);

-- Every finished run adds to one row; statistics read nothing else.
CREATE TABLE tallies (
    hour BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    contract TEXT NOT NULL,
    contract_version TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rung TEXT NOT NULL,
    bucket BIGINT NOT NULL,
    runs BIGINT NOT NULL,
    valid BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nano BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    early_cancels BIGINT NOT NULL,
    tokens_saved BIGINT NOT NULL,
    PRIMARY KEY (hour, provider, model, contract, contract_version, outcome, rung, bucket)
);

-- Hot and small: a job leaves it when its run is over.
CREATE TABLE jobs (
    seq {NUMBER},
    job_key TEXT {BYTES} NOT NULL,
    queue TEXT NOT NULL,
    batch TEXT,
    place BIGINT,
    state TEXT NOT NULL,
    priority BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    claims BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    error TEXT,
    claim_token TEXT,
    worker TEXT,
    leased_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX jobs_by_key ON jobs (job_key);
CREATE INDEX jobs_ready ON jobs (queue, priority, run_at, seq) WHERE state = 'ready';
CREATE INDEX jobs_leased ON jobs (leased_until) WHERE state = 'claimed';
CREATE INDEX jobs_of_claim ON jobs (claim_token) WHERE claim_token IS NOT NULL;
CREATE TABLE payloads (
    job BIGINT NOT NULL PRIMARY KEY,
    payload TEXT NOT NULL,
    coded TEXT NOT NULL
);

CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    fence BIGINT NOT NULL,
    leased_until BIGINT NOT NULL
);

-- A bucket is the time at which it will be full again, in microseconds.
CREATE TABLE buckets (
    name TEXT NOT NULL PRIMARY KEY,
    full_at BIGINT NOT NULL
);
