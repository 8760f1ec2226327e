//! A model in the process reviews, without key, server or network.

use std::ops::ControlFlow;
use std::path::PathBuf;

use airtight_local::{Models, Package};

use crate::stage::{Said, Stage, document};

/// A model of random weights, which says nothing but conforms.
const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/local/tiny.gguf");

/// Returns the default weights, or says why there are none.
fn weights() -> Option<PathBuf> {
    let models = Models::in_folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/models"));
    match models.pull(Package::usual(), &mut |_| ControlFlow::Continue(())) {
        Ok(path) => Some(path),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a test that shows nothing must say so")]
            {
                eprintln!("SKIPPED, no weights: {error}");
            }
            None
        }
    }
}

/// Has the bug reviewed by the model at `weights`; no other can be reached.
fn review(stage: &Stage, weights: &str, arguments: &[&str]) -> Said {
    let model = format!("embedded:{weights}");
    let typed = [&["review", "--model", &model], arguments].concat();
    let mut command = stage.command(&typed);
    command.env_remove("AIRTIGHT_MODEL").env_remove("ANTHROPIC_API_KEY");
    command.output().unwrap().into()
}

/// A model of little sense may cite what is not there until its re-asks are spent: then the part is
/// reported as not reviewed. Either way nothing is about another file.
fn require_honest(said: &Said) {
    assert!([0, 1].contains(&said.code), "{said:?}");
    let document = document(said);
    assert_eq!(document["complete"], said.code == 0, "{said:?}");
    let findings = document["findings"].as_array().unwrap();
    assert!(findings.iter().all(|it| it["file"] == "src/auth.rs"), "{said:?}");
}

#[test]
fn a_model_in_the_process_reviews_by_the_same_verdict() {
    let stage = Stage::changed([]);
    require_honest(&review(&stage, TINY, &["--reasks", "0", "--max-output-tokens", "300"]));
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn the_default_weights_review_a_change() {
    let Some(weights) = weights() else { return };
    let stage = Stage::changed([]);
    require_honest(&review(&stage, &weights.display().to_string(), &[]));
    assert_eq!(stage.fake.requests().len(), 0);
}
