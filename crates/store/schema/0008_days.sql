-- What finished runs add up to, by the hour and by the day: statistics read whole days, and hours where
-- a day is cut or hours are asked for. `latency` is a list of buckets, each with how many runs are in it.
CREATE TABLE tallies_by_hour (
    hour BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    contract TEXT NOT NULL,
    contract_version TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rung TEXT NOT NULL,
    runs BIGINT NOT NULL,
    valid BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nano BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    early_cancels BIGINT NOT NULL,
    tokens_saved BIGINT NOT NULL,
    latency TEXT NOT NULL,
    PRIMARY KEY (hour, provider, model, contract, contract_version, outcome, rung)
);
CREATE TABLE tallies_by_day (
    day BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    contract TEXT NOT NULL,
    contract_version TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rung TEXT NOT NULL,
    runs BIGINT NOT NULL,
    valid BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nano BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    early_cancels BIGINT NOT NULL,
    tokens_saved BIGINT NOT NULL,
    latency TEXT NOT NULL,
    PRIMARY KEY (day, provider, model, contract, contract_version, outcome, rung)
);

-- What was counted so far moves there. Programs of an older version go on counting in `tallies`, which
-- statistics read along; nothing that one of them counts meanwhile may be deleted uncounted.
{TAKE TALLIES}
INSERT INTO tallies_by_hour (hour, provider, model, contract, contract_version, outcome, rung,
    runs, valid, attempts, input_tokens, output_tokens, cost_nano, unpriced, early_cancels,
    tokens_saved, latency)
SELECT hour, provider, model, contract, contract_version, outcome, rung,
    CAST(SUM(runs) AS BIGINT), CAST(SUM(valid) AS BIGINT), CAST(SUM(attempts) AS BIGINT),
    CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(output_tokens) AS BIGINT),
    CAST(SUM(cost_nano) AS BIGINT), CAST(SUM(unpriced) AS BIGINT),
    CAST(SUM(early_cancels) AS BIGINT), CAST(SUM(tokens_saved) AS BIGINT),
    {JOINED}(CAST(bucket AS TEXT) || ':' || CAST(runs AS TEXT), ' ')
FROM tallies
GROUP BY hour, provider, model, contract, contract_version, outcome, rung;
INSERT INTO tallies_by_day (day, provider, model, contract, contract_version, outcome, rung,
    runs, valid, attempts, input_tokens, output_tokens, cost_nano, unpriced, early_cancels,
    tokens_saved, latency)
SELECT day, provider, model, contract, contract_version, outcome, rung,
    CAST(SUM(runs) AS BIGINT), CAST(SUM(valid) AS BIGINT), CAST(SUM(attempts) AS BIGINT),
    CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(output_tokens) AS BIGINT),
    CAST(SUM(cost_nano) AS BIGINT), CAST(SUM(unpriced) AS BIGINT),
    CAST(SUM(early_cancels) AS BIGINT), CAST(SUM(tokens_saved) AS BIGINT),
    {JOINED}(CAST(bucket AS TEXT) || ':' || CAST(runs AS TEXT), ' ')
FROM (
    SELECT hour / 24 AS day, provider, model, contract, contract_version, outcome, rung, bucket,
        CAST(SUM(runs) AS BIGINT) AS runs, CAST(SUM(valid) AS BIGINT) AS valid,
        CAST(SUM(attempts) AS BIGINT) AS attempts,
        CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
        CAST(SUM(output_tokens) AS BIGINT) AS output_tokens,
        CAST(SUM(cost_nano) AS BIGINT) AS cost_nano, CAST(SUM(unpriced) AS BIGINT) AS unpriced,
        CAST(SUM(early_cancels) AS BIGINT) AS early_cancels,
        CAST(SUM(tokens_saved) AS BIGINT) AS tokens_saved
    FROM tallies
    GROUP BY hour / 24, provider, model, contract, contract_version, outcome, rung, bucket
) AS daily
GROUP BY day, provider, model, contract, contract_version, outcome, rung;
DELETE FROM tallies;
