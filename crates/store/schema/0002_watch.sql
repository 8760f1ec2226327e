-- What a watch knows. Texts are masked before they come here, and hold no NUL: what a model said
-- exactly is in its run.

-- Chains of sessions. `machine` is where a chain stands: whoever leads next goes on from there.
CREATE TABLE chains (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    machine TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE UNIQUE INDEX chains_by_id ON chains (id);
CREATE INDEX chains_open ON chains (seq) WHERE state = 'open';

-- Narrow: lists read this table alone. A session has the name of its run.
CREATE TABLE sessions (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    chain TEXT {BYTES} NOT NULL,
    parent TEXT {BYTES},
    tier BIGINT NOT NULL,
    cause TEXT NOT NULL,
    driver TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    extraction TEXT NOT NULL,
    pending BIGINT NOT NULL,
    turns BIGINT,
    cost_nano BIGINT,
    log TEXT,
    summary TEXT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE UNIQUE INDEX sessions_by_id ON sessions (id);
CREATE INDEX sessions_of_chain ON sessions (chain, seq);
CREATE INDEX sessions_running ON sessions (seq) WHERE status = 'running';
CREATE TABLE session_texts (
    session TEXT {BYTES} NOT NULL PRIMARY KEY,
    prompt TEXT,
    context TEXT,
    response TEXT
);

CREATE TABLE watch_events (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    session TEXT {BYTES},
    chain TEXT {BYTES},
    origin TEXT NOT NULL,
    level TEXT NOT NULL,
    said_level TEXT,
    service TEXT,
    message TEXT NOT NULL,
    told_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX watch_events_by_id ON watch_events (id);
CREATE INDEX watch_events_of_session ON watch_events (session, seq) WHERE session IS NOT NULL;
CREATE INDEX watch_events_critical ON watch_events (seq) WHERE level = 'critical';

-- Confidence is in thousandths: what it is at some time follows from these columns alone.
CREATE TABLE memories (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    service TEXT,
    category TEXT NOT NULL,
    observation TEXT NOT NULL,
    confidence BIGINT NOT NULL,
    reinforced_at BIGINT NOT NULL,
    trust TEXT NOT NULL,
    tier BIGINT,
    session TEXT {BYTES},
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX memories_by_id ON memories (id);
CREATE INDEX memories_enough ON memories (seq) WHERE confidence >= 300;

-- How each service is, and every check of it.
CREATE TABLE services (
    name TEXT {BYTES} NOT NULL PRIMARY KEY,
    status TEXT NOT NULL,
    detail TEXT,
    healthy_streak BIGINT NOT NULL,
    unhealthy_streak BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    checked_at BIGINT NOT NULL,
    cleared_at BIGINT
);
CREATE TABLE service_checks (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    service TEXT NOT NULL,
    session TEXT {BYTES},
    status TEXT NOT NULL,
    detail TEXT,
    checked_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX service_checks_by_id ON service_checks (id);
CREATE INDEX service_checks_of_service ON service_checks (service, seq);

-- What was done to services: on record before it is done.
CREATE TABLE cooldown_actions (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    service TEXT {BYTES} NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    tier BIGINT NOT NULL,
    session TEXT {BYTES},
    command TEXT,
    error TEXT,
    reserved_at BIGINT NOT NULL,
    closed_at BIGINT
);
CREATE UNIQUE INDEX cooldown_actions_by_id ON cooldown_actions (id);
CREATE INDEX cooldown_actions_of_service ON cooldown_actions (service, seq);
CREATE INDEX cooldown_actions_by_time ON cooldown_actions (reserved_at);
CREATE INDEX cooldown_actions_open ON cooldown_actions (seq) WHERE state = 'reserved';

-- Escalations: those that were acted on, and those that wait for somebody's leave.
CREATE TABLE escalations (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    session TEXT {BYTES} NOT NULL,
    chain TEXT {BYTES} NOT NULL,
    tier BIGINT NOT NULL,
    affected TEXT NOT NULL,
    context TEXT,
    state TEXT NOT NULL,
    told_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX escalations_by_id ON escalations (id);
CREATE INDEX escalations_by_time ON escalations (told_at);
CREATE INDEX escalations_open ON escalations (seq) WHERE state <> 'acted';

CREATE TABLE notifications (
    seq {NUMBER},
    id TEXT {BYTES} NOT NULL,
    category TEXT NOT NULL,
    target TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    chain TEXT {BYTES},
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    error TEXT,
    queued_at BIGINT NOT NULL,
    told_at BIGINT
);
CREATE UNIQUE INDEX notifications_by_id ON notifications (id);
CREATE INDEX notifications_queued ON notifications (seq) WHERE state = 'queued';

-- What a watch remembers of itself: when it ran, when it sent its digest.
CREATE TABLE watch_marks (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    marked_at BIGINT NOT NULL
);
