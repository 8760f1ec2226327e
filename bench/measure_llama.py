"""Answers questions with llama-cpp-python, for bench/local.py.

Usage: measure_llama.py constrained|free|probe WEIGHTS QUESTIONS THREADS BUDGET any|plain
Prints {"load_ns", "answers"}, each with its text, times and tokens. `probe` answers one question only;
`plain` forbids layouts of the weights for special instructions (this library has no argument for it).
"""

import json
import sys
import time

import llama_cpp


def answer(llama, question, constrained, budget):
    """One answer; `prompt_ns` is the library's own figure, the rest of the time is the answer's."""
    form = {"response_format": {"type": "json_object", "schema": question["schema"]}} if constrained else {}
    llama_cpp.llama_perf_context_reset(llama.ctx)
    start = time.perf_counter_ns()
    try:
        done = llama.create_chat_completion(question["messages"], temperature=0, max_tokens=budget, **form)
        text, tokens = done["choices"][0]["message"]["content"], done["usage"]["completion_tokens"]
    except (RuntimeError, ValueError) as error:
        print(f"{question['contract']}: {error}", file=sys.stderr)
        text, tokens = "", 0
    ns = time.perf_counter_ns() - start
    perf = llama_cpp.llama_perf_context(llama.ctx)
    prompt_ns = int(perf.t_p_eval_ms * 1e6)
    return {
        "text": text,
        "ns": ns,
        "prompt_ns": prompt_ns,
        "prompt_tokens": perf.n_p_eval,
        "answer_ns": ns - prompt_ns,
        "answer_tokens": tokens,
        "forced_tokens": 0,
    }


def plain_parameters(original=llama_cpp.llama_model_default_params):
    parameters = original()
    parameters.use_extra_bufts = False
    return parameters


def main():
    mode, weights, questions, threads, budget, layout = sys.argv[1:]
    if layout == "plain":
        llama_cpp.llama_cpp.llama_model_default_params = plain_parameters
    with open(questions, encoding="utf-8") as file:
        asked = json.load(file)["questions"][: 1 if mode == "probe" else None]
    start = time.perf_counter_ns()
    llama = llama_cpp.Llama(weights, n_ctx=2048, n_threads=int(threads), n_threads_batch=int(threads), verbose=False)
    load = time.perf_counter_ns() - start
    answers = [answer(llama, question, mode == "constrained", int(budget)) for question in asked]
    print(json.dumps({"load_ns": load, "answers": answers}))


main()
