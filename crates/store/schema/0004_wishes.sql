-- What somebody asks of the watch, whoever leads: a chain that is to run. `chain` is the one that it
-- became; without one it waits.
CREATE TABLE wishes (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    cause TEXT NOT NULL,
    tier BIGINT NOT NULL,
    request TEXT,
    asked_at BIGINT NOT NULL,
    chain TEXT {BYTES}
);
CREATE UNIQUE INDEX wishes_by_id ON wishes (id);
CREATE INDEX wishes_waiting ON wishes (seq) WHERE chain IS NULL;

-- Chains that somebody wants stopped.
CREATE TABLE chain_stops (
    chain TEXT {BYTES} NOT NULL PRIMARY KEY,
    asked_at BIGINT NOT NULL
);
