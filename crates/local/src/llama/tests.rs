use super::*;
use crate::trial::{CONTEXT, Gguf};

fn model(threads: usize) -> Llama {
    let (_folder, path) = Gguf::model(1).save();
    Llama::load(&mut Weights::open(&path).unwrap(), threads).unwrap()
}

fn scores_after(model: &mut Llama, tokens: &[u32]) -> Vec<f32> {
    model.evaluate(tokens).unwrap();
    model.scores(None).unwrap()
}

#[test]
fn tokens_may_come_in_any_batches() {
    let tokens: Vec<u32> = (0..150).map(|token| token * 7 % 264).collect();
    let together = scores_after(&mut model(1), &tokens);
    let mut model = model(1);
    for batch in tokens.chunks(37) {
        model.evaluate(batch).unwrap();
    }
    assert_eq!(model.scores(None).unwrap(), together);
    assert!(together.iter().all(|score| score.is_finite()));
}

#[test]
fn threads_do_not_change_the_scores() {
    let tokens: Vec<u32> = (0..80).collect();
    assert_eq!(scores_after(&mut model(1), &tokens), scores_after(&mut model(3), &tokens));
}

#[test]
fn what_was_forgotten_leaves_no_trace() {
    let expected = scores_after(&mut model(1), &[1, 2, 3, 4]);
    let mut model = model(1);
    model.evaluate(&[1, 2, 9, 9, 9]).unwrap();
    model.truncate(2);
    assert_eq!(model.length(), 2);
    assert_eq!(model.scores(None), Err(EngineError::NothingRead));
    assert_eq!(scores_after(&mut model, &[3, 4]), expected);
}

#[test]
fn a_cache_that_was_lost_is_made_anew() {
    let expected = scores_after(&mut model(1), &[1, 2, 3]);
    let mut model = model(1);
    model.evaluate(&[9, 9]).unwrap();
    // As a panic in the middle of reading leaves it.
    model.cache = Cache::default();
    model.truncate(0);
    assert_eq!(scores_after(&mut model, &[1, 2, 3]), expected);
}

#[test]
fn positions_matter() {
    assert_ne!(scores_after(&mut model(1), &[5, 6, 7]), scores_after(&mut model(1), &[6, 5, 7]));
}

#[test]
fn only_allowed_tokens_need_scores() {
    let mut model = model(1);
    let all = scores_after(&mut model, &[1, 2, 3]);
    let mut allowed = SimpleVob::alloc(264);
    allowed.allow_token(40);
    let some = model.scores(Some(&allowed)).unwrap();
    assert_eq!(some[40].to_bits(), all[40].to_bits());
    assert_eq!(some[0].to_bits(), f32::NEG_INFINITY.to_bits());
}

#[test]
fn a_text_beyond_the_context_is_refused() {
    let limit = CONTEXT as usize;
    let error = model(1).evaluate(&vec![1; limit + 1]).unwrap_err();
    assert_eq!(error, EngineError::Context { tokens: limit + 1, limit });
    assert_eq!(model(1).evaluate(&[264]).unwrap_err(), EngineError::NoSuchToken(264));
}
