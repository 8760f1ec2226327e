//! The default weights, fetched by the code that users fetch them by.
//!
//! Fetched once into the build folder. Where that is impossible (no network, no pip), these tests
//! say so and show nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::ops::ControlFlow;
use std::path::PathBuf;

use airtight_core::{Allowance, Contract, Dialect, Strictness, Verdict, judge, lower};
use airtight_local::{
    Closing, Completion, Embedded, Models, Package, Question, Sampling, Stop, Tokenizer, Weights,
    conversation,
};
use serde_json::json;

/// Returns the weights, or says why there are none.
fn weights() -> Option<PathBuf> {
    let models = Models::in_folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/models"));
    match models.pull(Package::usual(), &mut |_| ControlFlow::Continue(())) {
        Ok(path) => Some(path),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            #[expect(clippy::print_stderr, reason = "a test that shows nothing must say so")]
            {
                eprintln!("SKIPPED, no weights: {error} ({})", cause.unwrap_or_default());
            }
            None
        }
    }
}

fn contact() -> Contract {
    Contract::compile(json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "email": {"type": "string", "format": "email"},
        },
        "required": ["name", "email"],
        "additionalProperties": false,
        "x-examples": [
            {"input": "Write to Jane Roe (jane@roe.example), please.",
             "output": {"name": "Jane Roe", "email": "jane@roe.example"}},
            {"input": "From: John Doe <john.doe@example.com>",
             "output": {"name": "John Doe", "email": "john.doe@example.com"}},
        ],
    }))
    .unwrap()
}

fn answer(embedded: &mut Embedded, contract: &Contract, job: &str) -> Completion {
    let lowered = lower(contract, Dialect::Llguidance).unwrap();
    let turns = conversation(contract, None, job);
    let schema = Some(lowered.schema.as_ref());
    let question = Question {
        turns: &turns,
        schema,
        sampling: Sampling::Greedy,
        budget: 128,
        closing: Closing::Anything,
    };
    embedded.answer(question, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Names are what this model gets right; addresses it often does not.
#[test]
fn a_small_model_imitates_the_examples_of_its_contract() {
    let Some(path) = weights() else { return };
    let (mut embedded, contract) = (Embedded::open(&path, 2).unwrap(), contact());
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    for (place, (job, name)) in [
        ("From: Maria Silva <maria@silva.example>", "Maria Silva"),
        ("Contact: Chen Wei <chen@lab.example>", "Chen Wei"),
    ]
    .into_iter()
    .enumerate()
    {
        let completion = answer(&mut embedded, &contract, job);
        let Verdict::Accepted(accepted) = judge(&contract, &completion.text, &strict) else {
            panic!("{completion:?}")
        };
        assert_eq!(accepted.value.to_value()["name"], name);
        assert_eq!(completion.stop, Stop::Complete);
        // The examples are read once; only the job differs.
        let remembered = completion.reused_tokens * 10 > completion.prompt_tokens * 7;
        assert_eq!(remembered, place > 0, "{completion:?}");
    }
}

#[test]
fn text_becomes_the_tokens_that_the_model_was_trained_on() {
    let Some(path) = weights() else { return };
    let tokenizer = Tokenizer::of(Weights::open(&path).unwrap().header()).unwrap();
    // By the tokenizer that the model was published with.
    let text = "The capital of France is Paris, 12345 and\n\n  it's nice.";
    let expected = [
        504, 3575, 282, 4649, 314, 7042, 28, 216, 33, 34, 35, 36, 37, 284, 8866, 357, 506, 9239, 30,
    ];
    assert_eq!(tokenizer.encode(text), expected);
}
