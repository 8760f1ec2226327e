-- What the API answered to requests with a key: asked again, it answers the same. Status 0 is one that
-- is under way.
CREATE TABLE api_answers (
    id TEXT {BYTES} NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    token TEXT NOT NULL,
    status BIGINT NOT NULL,
    body TEXT NOT NULL,
    asked_at BIGINT NOT NULL
);
CREATE INDEX api_answers_by_time ON api_answers (asked_at);
