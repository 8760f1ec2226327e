-- What the model of a run that goes on has said so far, for whoever looks at it meanwhile.
CREATE TABLE drafts (
    run BIGINT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL,
    told_at BIGINT NOT NULL
);
