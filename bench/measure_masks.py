"""Follows answers through the grammars of a Python library, for bench/local.py.

Usage: measure_masks.py xgrammar|outlines_core QUESTIONS ANSWERS
Prints {"compile_ns", "mask_ns", "followed"}. A contract that a library refuses, or compiles for longer
than LIMIT_S, has no times and is not followed.
"""

import ctypes
import importlib
import json
import multiprocessing
import sys
import time

LIMIT_S = 20


def xgrammar(words, end):
    """Compact JSON, as the embedded model writes it."""
    import xgrammar as peer

    info = peer.TokenizerInfo(words, stop_token_ids=[end])
    compiler = peer.GrammarCompiler(info, max_threads=2, cache_enabled=False)
    mask = peer.allocate_token_bitmask(1, info.vocab_size)

    def compile_schema(schema):
        compiled = compiler.compile_json_schema(
            json.dumps(schema), any_whitespace=False, separators=(",", ":"), strict_mode=False
        )
        matcher = peer.GrammarMatcher(compiled)
        return (lambda: matcher.fill_next_token_bitmask(mask)), matcher.accept_token

    return compile_schema


def outlines_core(words, end):
    import outlines_core as peer
    from outlines_core.json_schema import build_regex_from_schema

    tokens = {}
    for token, word in enumerate(words):
        if word and token != end:
            tokens.setdefault(word, []).append(token)
    vocabulary = peer.Vocabulary(end, tokens)
    mask = (ctypes.c_int32 * -(-len(words) // 32))()

    def compile_schema(schema):
        guide = peer.Guide(peer.Index(build_regex_from_schema(json.dumps(schema)), vocabulary))

        def accept(token):
            try:
                guide.advance(token)
            except ValueError:
                return False
            return True

        return (lambda: guide.write_mask_into(ctypes.addressof(mask), len(mask), ctypes.sizeof(ctypes.c_int32))), accept

    return compile_schema


def timed(work, times):
    start = time.perf_counter_ns()
    done = work()
    times.append(time.perf_counter_ns() - start)
    return done


def follow(library, asked, line, outcome):
    """Compiles the grammar of one contract and follows one answer through it."""
    words = [word.encode("latin-1") for word in asked["vocabulary"]]
    compile_schema = library(words, asked["end"])
    compile_ns, mask_ns = [], []
    fill, accept = timed(lambda: compile_schema(line["schema"]), compile_ns)
    followed = all(timed(lambda: (fill(), True)[1], mask_ns) and accept(token) for token in line["tokens"])
    outcome.send({"compile_ns": compile_ns, "mask_ns": mask_ns, "followed": int(followed)})


def main():
    name, questions, answers = sys.argv[1:]
    library = {"xgrammar": xgrammar, "outlines_core": outlines_core}[name]
    importlib.import_module(name)
    with open(questions, encoding="utf-8") as file:
        asked = json.load(file)
    sums = {"compile_ns": [], "mask_ns": [], "followed": 0}
    with open(answers, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    # Some grammars take minutes to compile and cannot be interrupted, so each has a process.
    processes = multiprocessing.get_context("fork")
    for line in lines:
        outcome, theirs = processes.Pipe(duplex=False)
        process = processes.Process(target=follow, args=(library, asked, line, theirs))
        process.start()
        theirs.close()
        try:
            found = outcome.recv() if outcome.poll(LIMIT_S) else {}
        except EOFError:
            found = {}
        process.kill()
        process.join()
        sums = {member: sums[member] + found.get(member, type(sums[member])()) for member in sums}
    print(json.dumps(sums))


main()
