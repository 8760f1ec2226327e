-- What tells one question from another, whatever of it is kept: a key gives the answer of its own alone.
ALTER TABLE questions ADD COLUMN digest TEXT;

-- The newest contracts are found without reading all.
CREATE INDEX contracts_by_time ON contracts (first_seen_at DESC, fingerprint, name, version);
