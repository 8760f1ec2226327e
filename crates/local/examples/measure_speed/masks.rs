//! What the grammar alone costs: compiling it, and a mask for each token of an answer.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use airtight_local::Tokenizer;
use llguidance::api::TopLevelGrammar;
use llguidance::{JsonCompileOptions, Matcher, ParserFactory};
use serde::Deserialize;
use serde_json::{Value, json};
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

use crate::nanoseconds;

/// An answer that is followed again.
#[derive(Deserialize)]
pub(crate) struct Followed {
    schema: Value,
    tokens: Vec<u32>,
}

/// Returns what compiling and masks took, and how many answers were followed to their end.
pub(crate) fn measure(
    tokenizer: &Tokenizer,
    answers: &[Followed],
) -> Result<Value, Box<dyn Error>> {
    let factory = factory(tokenizer)?;
    let (mut compile_ns, mut mask_ns, mut followed) = (Vec::new(), Vec::new(), 0);
    for Followed { schema, tokens } in answers {
        let started = Instant::now();
        let mut matcher = matcher(&factory, schema);
        compile_ns.push(nanoseconds(started.elapsed()));
        let mut taken = 0;
        for token in tokens {
            let started = Instant::now();
            let Ok(allowed) = matcher.compute_mask() else { break };
            mask_ns.push(nanoseconds(started.elapsed()));
            if !allowed.is_allowed(*token) || matcher.consume_token(*token).is_err() {
                break;
            }
            taken += 1;
        }
        followed += usize::from(taken == tokens.len());
    }
    Ok(json!({"compile_ns": compile_ns, "mask_ns": mask_ns, "followed": followed}))
}

/// Returns what makes grammars for a vocabulary.
pub(crate) fn factory(tokenizer: &Tokenizer) -> Result<ParserFactory, Box<dyn Error>> {
    let words: Vec<Vec<u8>> = (0..tokenizer.size())
        .map(|token| match tokenizer.bytes(token) {
            // A control token: text never becomes one.
            [] => [&[TokTrie::SPECIAL_TOKEN_MARKER], token.to_string().as_bytes()].concat(),
            bytes => bytes.to_vec(),
        })
        .collect();
    let trie = TokTrie::from(&TokRxInfo::new(tokenizer.size(), tokenizer.end()), &words);
    let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
    let mut factory = ParserFactory::new_simple(&environment)?;
    factory.quiet();
    Ok(factory)
}

/// Returns the grammar of a schema, at its beginning.
pub(crate) fn matcher(factory: &ParserFactory, schema: &Value) -> Matcher {
    let mut schema = schema.clone();
    let options = JsonCompileOptions {
        whitespace_flexible: false,
        lenient: true,
        ..JsonCompileOptions::default()
    };
    options.apply_to(&mut schema);
    Matcher::new(factory.create_parser(TopLevelGrammar::from_json_schema(schema)))
}
