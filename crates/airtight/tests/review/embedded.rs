//! A model in the process reviews, without key, server or network.

use crate::stage::Stage;

/// A model of random weights, which says nothing but conforms.
const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/local/tiny.gguf");

#[test]
fn a_model_in_the_process_reviews_by_the_same_verdict() {
    let stage = Stage::changed([]);
    let model = format!("embedded:{TINY}");
    let arguments = ["review", "--model", &model, "--reasks", "0", "--max-output-tokens", "300"];
    let mut command = stage.command(&arguments);
    command.env_remove("AIRTIGHT_MODEL").env_remove("ANTHROPIC_API_KEY");
    let said: crate::said::Said = command.output().unwrap().into();
    // A model without sense cites what is not there, or says nothing; either way it is told.
    assert!([0, 1].contains(&said.code), "{said:?}");
    let document = crate::stage::document(&said);
    assert_eq!(document["complete"], said.code == 0, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}
