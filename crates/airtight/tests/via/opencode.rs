//! The same laws for opencode, which takes six seconds to ask: `make test-all`.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::stage::{Stage, calls};
use crate::{answers, failures, stops, trust};

#[test]
#[ignore = "takes a minute: make test-all"]
fn opencode_keeps_the_laws_of_answers() {
    answers::an_answer_that_conforms_is_met(Cli::Opencode);
    answers::an_answer_that_breaks_the_contract_is_asked_for_again(Cli::Opencode, 2);
    answers::the_session_goes_on_with_the_violations(Cli::Opencode);
    answers::prose_is_no_answer(Cli::Opencode);
    answers::half_a_surrogate_pair_is_asked_for_again(Cli::Opencode);
    answers::nothing_of_a_large_answer_is_lost(Cli::Opencode);
    answers::every_question_is_asked(Cli::Opencode, "--help");
}

#[test]
#[ignore = "takes a minute: make test-all"]
fn opencode_keeps_the_laws_of_failures() {
    failures::a_key_that_is_refused_is_told_as_such(Cli::Opencode);
    trust::what_a_repository_sets_counts_only_if_it_is_trusted(Cli::Opencode, "default");
    stops::an_interrupt_stops_the_program(Cli::Opencode);
}

/// Opencode asks again for ever when a stream breaks off, and for minutes when its model is not there.
#[test]
#[ignore = "takes a minute: make test-all"]
fn retries_without_end_are_ended() {
    let cut = Turn::text("x").end_after(1);
    // Twenty cut streams take half a minute and more, by the pace of the machine.
    for (turn, limit, code) in [(Turn::status(500), "20s", 55), (cut, "2m", 3)] {
        let Some(stage) = Stage::open(Cli::Opencode, [turn.forever()]) else { return };
        let said = stage.ask(&["--max-wall-time", limit]);
        assert_eq!(said.code, code, "{said:?}");
    }
}

/// Opencode's own check says `valid: true` of anything; it has none where it is asked here, and exits
/// with 0.
#[test]
#[ignore = "takes a minute: make test-all"]
fn the_lie_of_an_answer_that_was_never_checked_is_caught() {
    for answer in [r#"{"answer":"forty-two"}"#, r#"{"answer":4"#] {
        let turn = Turn::text(answer).max_tokens().forever();
        let Some(stage) = Stage::open(Cli::Opencode, [turn]) else { return };
        let said = stage.ask(&["--reasks", "0"]);
        let result = said.result();
        assert_eq!((said.code, &result["structured_output"]), (1, &json!(null)), "{said:?}");
        assert_eq!(calls(&result)[0]["exit_code"], 0, "{said:?}");
    }
}
