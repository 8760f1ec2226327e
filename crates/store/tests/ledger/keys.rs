//! Keys: one question, one final result, whoever asks again.

use airtight_store::{
    AttemptEnd, AttemptState, Begun, Level, NewRun, Postponed, Repeat, RunState, StoreError,
};

use crate::bed::{Bed, begin, failed, keyed, met, store};

crate::laws! {
    a_key_has_one_final_result,
    a_key_may_give_up_its_result,
    a_postponed_run_goes_on_with_its_key,
    a_run_is_never_taken_over_for_another_job,
    a_key_never_gives_the_result_of_another_job,
    a_key_is_of_one_question_whatever_of_it_is_kept,
    a_key_of_an_older_version_is_compared_by_what_it_kept,
    a_run_that_is_named_may_be_done_by_another,
}

async fn a_key_has_one_final_result(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let other = bed.open().await;
    let Begun::Busy { id, owner } = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&id, token.id());
    assert!(owner.contains(&std::process::id().to_string()), "{owner}");
    ledger.finish(&token, met()).await.unwrap();
    let Begun::Finished(run) = other.begin(keyed("k")).await.unwrap() else { panic!() };
    assert_eq!(&run.summary.id, token.id());
    assert_eq!(run.parsed_output.as_deref(), Some(r#"{"n":1}"#));
    assert!(matches!(ledger.finish(&token, failed()).await, Ok(())), "told twice, stored once");
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.outcome.as_deref(), Some("met"));
}

async fn a_key_may_give_up_its_result(bed: Bed) {
    let ledger = bed.open().await;
    let first = store(&ledger, keyed("k"), failed()).await;
    let again = |repeat| NewRun { repeat, ..keyed("k") };
    let kept = ledger.begin(again(Repeat::Never)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(_)));
    let second = store(&ledger, again(Repeat::Failed), met()).await;
    let run = ledger.run(second.id().as_str()).await.unwrap();
    assert_eq!(run.summary.parent.as_ref(), Some(first.id()));
    let kept = ledger.begin(again(Repeat::Failed)).await.unwrap();
    assert!(matches!(kept, Begun::Finished(run) if &run.summary.id == second.id()));
    begin(&ledger, again(Repeat::Always)).await;
    assert_eq!(ledger.run(first.id().as_str()).await.unwrap().summary.key, None);
}

async fn a_postponed_run_goes_on_with_its_key(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    let end = AttemptEnd { number: 1, ending: "failed".to_owned(), ..AttemptEnd::default() };
    let later =
        Postponed { error: "overloaded".to_owned(), ended: vec![end], ..Postponed::default() };
    ledger.postpone(&token, later).await.unwrap();
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.state, RunState::Postponed);
    let again = begin(&ledger, keyed("k")).await;
    assert_eq!((again.id(), again.attempt()), (token.id(), 2));
    ledger.finish(&again, met()).await.unwrap();
    assert_eq!(ledger.attempts(token.id()).await.unwrap()[0].state, AttemptState::Closed);
}

async fn a_run_is_never_taken_over_for_another_job(bed: Bed) {
    let ledger = bed.open().await;
    let mut begun = keyed("k");
    begun.retention.level = Level::Masked;
    let token = begin(&ledger, begun.clone()).await;
    ledger.postpone(&token, Postponed::default()).await.unwrap();
    let mut other_prompt = begun.clone();
    "Something else.".clone_into(&mut other_prompt.job.prompt);
    let mut other_contract = begun.clone();
    "other".clone_into(&mut other_contract.contract.fingerprint);
    for other in [other_prompt, other_contract] {
        let refused = ledger.begin(other).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { id }) if id == token.id().as_str()));
    }
    // Whoever takes it over does not keep more of it than was promised.
    let mut looser = begun;
    looser.retention.level = Level::Full;
    let again = begin(&ledger, looser).await;
    assert_eq!(again.id(), token.id());
    let run = ledger.run(token.id().as_str()).await.unwrap();
    assert_eq!(run.summary.store, Level::Masked);
}

async fn a_key_never_gives_the_result_of_another_job(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    ledger.finish(&token, met()).await.unwrap();
    let mut other = keyed("k");
    "Something else.".clone_into(&mut other.job.prompt);
    let refused = ledger.begin(other.clone()).await;
    assert!(matches!(refused, Err(StoreError::OtherJob { id }) if id == token.id().as_str()));
    assert!(matches!(ledger.begin(keyed("k")).await, Ok(Begun::Finished(_))));
    // Who wants it done again means the new text.
    other.repeat = Repeat::Always;
    assert!(matches!(ledger.begin(other).await, Ok(Begun::Fresh(_))));
}

/// Returns runs like `run` that ask something else, or somebody else.
fn other_questions(run: &NewRun) -> Vec<NewRun> {
    let change = |change: fn(&mut NewRun)| {
        let mut other = run.clone();
        change(&mut other);
        other
    };
    vec![
        change(|it| it.job.system = Some("You never write.".to_owned())),
        change(|it| it.job.system = None),
        change(|it| "claude".clone_into(&mut it.driver.driver)),
        change(|it| "openai".clone_into(&mut it.driver.provider)),
        change(|it| "claude-y".clone_into(&mut it.driver.model)),
    ]
}

async fn a_key_is_of_one_question_whatever_of_it_is_kept(bed: Bed) {
    let ledger = bed.open().await;
    for level in [Level::Full, Level::Masked, Level::Metadata] {
        let mut run = keyed(level.name());
        run.retention.level = level;
        let token = store(&ledger, run.clone(), met()).await;
        let mut others = other_questions(&run);
        others.push(NewRun { terms: vec!["temperature 1".to_owned()], ..run.clone() });
        let mut prompt = run.clone();
        "Something else.".clone_into(&mut prompt.job.prompt);
        others.push(prompt);
        for other in others {
            let refused = ledger.begin(other.clone()).await;
            assert!(
                matches!(refused, Err(StoreError::OtherJob { ref id }) if id == token.id().as_str()),
                "{other:?}"
            );
        }
        assert!(matches!(ledger.begin(run).await, Ok(Begun::Finished(_))));
    }
}

async fn a_key_of_an_older_version_is_compared_by_what_it_kept(bed: Bed) {
    let ledger = bed.open().await;
    store(&ledger, keyed("k"), met()).await;
    bed.meddle("UPDATE questions SET digest = NULL").await;
    for other in other_questions(&keyed("k")) {
        let refused = ledger.begin(other.clone()).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { .. })), "{other:?}");
    }
    assert!(matches!(ledger.begin(keyed("k")).await, Ok(Begun::Finished(_))));
}

async fn a_run_that_is_named_may_be_done_by_another(bed: Bed) {
    let ledger = bed.open().await;
    let token = begin(&ledger, keyed("k")).await;
    ledger.postpone(&token, Postponed::default()).await.unwrap();
    for other in other_questions(&keyed("k")) {
        let refused = ledger.begin(other.clone()).await;
        assert!(matches!(refused, Err(StoreError::OtherJob { .. })), "{other:?}");
        let again = begin(&ledger, NewRun { repeat: Repeat::Named, ..other }).await;
        assert_eq!(again.id(), token.id());
        ledger.postpone(&again, Postponed::default()).await.unwrap();
    }
}
