"""Times one task of a Python peer. Usage: measure.py TASK INPUT [SCHEMA]

Prints {"ns": best of several} or {"refused": why}. bench/run gives every peer the same inputs.
"""

import json
import sys
import time

DELTA = 4


def verdict(text, schema):
    from jsonschema.validators import validator_for

    validator = validator_for(schema)(schema)

    def run():
        if not validator.is_valid(json.loads(text)):
            raise ValueError("rejected")

    return run


def compile_schema(_text, schema):
    from jsonschema.validators import validator_for

    def run():
        kind = validator_for(schema)
        kind.check_schema(schema)
        kind(schema)

    return run


def json_repair(text, _schema):
    import json_repair

    return lambda: json_repair.loads(text)


def jiter(text, _schema):
    import jiter

    data = text.encode()

    def run():
        for end in range(DELTA, len(data) + DELTA, DELTA):
            jiter.from_json(data[:end], partial_mode="trailing-strings")

    return run


TASKS = {"verdict": verdict, "compile": compile_schema, "json_repair": json_repair, "jiter": jiter}


def best(run):
    """Repeats until half a second is spent, at least once, and keeps the best."""
    least = float("inf")
    stop = time.perf_counter() + 0.5
    while True:
        start = time.perf_counter_ns()
        run()
        least = min(least, time.perf_counter_ns() - start)
        if time.perf_counter() >= stop:
            return least


def main():
    task, input_path, *rest = sys.argv[1:]
    with open(input_path, encoding="utf-8") as file:
        text = file.read()
    schema = json.load(open(rest[0], encoding="utf-8")) if rest else None
    try:
        print(json.dumps({"ns": best(TASKS[task](text, schema))}))
    except (Exception, RecursionError) as error:
        print(json.dumps({"refused": type(error).__name__}))


main()
