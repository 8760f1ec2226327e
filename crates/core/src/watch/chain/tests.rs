//! One chain, step by step.

use test_case::test_case;

use super::*;
use crate::watch::cooldown::{ActionRecord, ActionState, CooldownAction};
use crate::watch::escalation::{EscalationPolicy, Waiting, WatchMode};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::notification::NotificationCategory;
use crate::watch::response::{AgentResponse, Escalation, EscalationRequest};
use crate::watch::services::{ServiceCheck, ServiceStatus};
use crate::watch::session::{ExitClaim, HandoffFile, Payload, SessionEnding};

fn start(tier: Tier) -> ChainStart {
    ChainStart {
        id: "c".to_owned(),
        trigger: Trigger::Scheduled,
        tier,
        request: None,
        approved: None,
    }
}

fn begin(tier: Tier) -> Chain {
    Chain::begin(start(tier), ChainPolicy::default(), 0)
}

fn finished(escalation: Escalation) -> Finished {
    let response = AgentResponse {
        summary: "s".to_owned(),
        events: vec![Event::of_session(Level::Info, None, "e")],
        memories: Vec::new(),
        escalation,
        services_checked: vec![ServiceCheck {
            name: "a".to_owned(),
            status: ServiceStatus::Down,
            detail: None,
        }],
    };
    let payload = Payload::Accepted(Box::new(response));
    Finished { payload, ..Finished::without_answer(SessionEnding::FINE) }
}

fn needed() -> Finished {
    finished(Escalation::Needed(EscalationRequest {
        reason: Some("r".to_owned()),
        context: None,
        failed_checks: Vec::new(),
    }))
}

/// Goes on to the next session and begins it.
fn begin_session(chain: &mut Chain, id: &str) -> Brief {
    loop {
        match chain.step() {
            Step::RunTier(brief) => {
                chain.began(id, 1).unwrap();
                return *brief;
            }
            Step::Done(outcome) => panic!("{outcome:?}"),
            Step::DeleteHandoff | Step::Record(_) => chain.performed(1).unwrap(),
        }
    }
}

fn end_session(chain: &mut Chain, finished: &Finished) -> Record {
    chain.finished(finished, &Known::NOTHING, 2).unwrap();
    let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
    *record
}

/// Goes on to the end.
fn end(chain: &mut Chain) -> ChainOutcome {
    loop {
        match chain.step() {
            Step::Done(outcome) => return outcome,
            Step::RunTier(brief) => panic!("{brief:?}"),
            Step::DeleteHandoff | Step::Record(_) => chain.performed(3).unwrap(),
        }
    }
}

fn settled() -> ChainOutcome {
    ChainOutcome::Settled { acted_on: Vec::new() }
}

/// CO-3: handoff, session, record, and the handoff again after any reading. Memories fade by themselves: what
/// one is worth is reckoned when somebody looks.
#[test]
fn co_3_a_chain_has_its_order() {
    let mut chain = begin(Tier::Observe);
    let mut order = Vec::new();
    loop {
        let step = chain.step();
        assert_eq!(step, chain.step());
        let name = match step {
            Step::DeleteHandoff => "delete",
            Step::Record(_) => "record",
            Step::RunTier(brief) => {
                chain.began(brief.number.to_string(), 0).unwrap();
                let finished =
                    if brief.number < 2 { needed() } else { finished(Escalation::NotNeeded) };
                chain.finished(&finished, &Known::NOTHING, 0).unwrap();
                order.push(brief.tier.name());
                continue;
            }
            Step::Done(outcome) => {
                assert_eq!(outcome, settled());
                break;
            }
        };
        order.push(name);
        chain.performed(0).unwrap();
    }
    let expected = ["delete", "observe", "record", "delete", "investigate", "record", "delete"];
    assert_eq!(order, expected);
}

/// CO-12, CO-71: each tier is a session with its parent, and one whose chain went on is `escalated`.
#[test]
fn co_71_sessions_are_linked() {
    let mut chain = begin(Tier::Observe);
    let first = begin_session(&mut chain, "s1");
    assert_eq!((first.parent, first.trigger, first.number), (None, Trigger::Scheduled, 1));
    let record = end_session(&mut chain, &needed());
    assert_eq!(record.session.unwrap().status, SessionStatus::Escalated);
    assert_eq!(record.escalation.unwrap().from_session, "s1");
    let second = begin_session(&mut chain, "s2");
    let expected = (Some("s1".to_owned()), Trigger::Escalation, 2, vec!["a".to_owned()]);
    assert_eq!((second.parent, second.trigger, second.number, second.affected), expected);
    assert!(second.escalation.unwrap().contains("### Reason\n> r"));
    let record = end_session(&mut chain, &finished(Escalation::NotNeeded));
    assert_eq!(record.session.unwrap().status, SessionStatus::Completed);
    assert_eq!(record.notifications[0].category, NotificationCategory::Remediation);
    assert_eq!(end(&mut chain), settled());
    let statuses: Vec<SessionStatus> = chain.sessions().iter().map(|it| it.status).collect();
    assert_eq!(statuses, [SessionStatus::Escalated, SessionStatus::Completed]);
}

/// CO-76, CO-78: in the original a blocked session stayed `escalated`, without event or notification.
#[test_case(Tier::Remediate, Tier::Remediate, BlockedBy::TierThree)]
#[test_case(Tier::Investigate, Tier::Investigate, BlockedBy::MaxTier)]
fn co_78_a_blocked_session_is_completed_and_people_are_told(
    tier: Tier,
    max_tier: Tier,
    by: BlockedBy,
) {
    let escalation = EscalationPolicy { max_tier, ..EscalationPolicy::default() };
    let policy = ChainPolicy { escalation, ..ChainPolicy::default() };
    let mut chain = Chain::begin(start(tier), policy, 0);
    begin_session(&mut chain, "s");
    let record = end_session(&mut chain, &needed());
    assert_eq!(record.session.unwrap().status, SessionStatus::Completed);
    assert_eq!(record.events.last().unwrap().level, Level::Critical);
    assert_eq!(record.notifications[0].category, NotificationCategory::HumanAttention);
    assert_eq!(end(&mut chain), ChainOutcome::Blocked(by));
}

/// CO-77: in a dry run nothing above tier 1 begins, also where a chain would begin there.
#[test_case(WatchMode::DryRun, Tier::Remediate, Tier::Investigate, Some(BlockedBy::DryRun))]
#[test_case(WatchMode::DryRun, Tier::Remediate, Tier::Observe, None)]
#[test_case(WatchMode::Live, Tier::Observe, Tier::Investigate, Some(BlockedBy::MaxTier))]
#[test_case(WatchMode::Live, Tier::Remediate, Tier::Remediate, None)]
fn co_77_a_chain_begins_where_policy_allows(
    mode: WatchMode,
    max_tier: Tier,
    tier: Tier,
    by: Option<BlockedBy>,
) {
    let escalation = EscalationPolicy { max_tier, mode, ..EscalationPolicy::default() };
    let policy = ChainPolicy { escalation, ..ChainPolicy::default() };
    let mut chain = Chain::begin(start(tier), policy, 0);
    match by {
        None => assert_eq!(chain.step(), Step::DeleteHandoff),
        Some(by) => {
            let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
            assert_eq!(record.events.len(), 1);
            assert_eq!(end(&mut chain), ChainOutcome::Blocked(by));
        }
    }
}

/// In the original a request was dropped unless the chain began with tier 1.
#[test_case(Tier::Observe)]
#[test_case(Tier::Investigate)]
#[test_case(Tier::Remediate)]
fn a_request_reaches_every_session_of_its_chain(tier: Tier) {
    let request = Some("look at caddy".to_owned());
    let start = ChainStart { request: request.clone(), ..start(tier) };
    let mut chain = Chain::begin(start, ChainPolicy::default(), 0);
    assert_eq!(begin_session(&mut chain, "s1").request, request);
    end_session(&mut chain, &needed());
    if tier != Tier::Remediate {
        assert_eq!(begin_session(&mut chain, "s2").request, request);
    }
}

/// CO-5: a session that cannot begin leaves no session, but a word.
#[test]
fn co_5_a_hook_that_fails_ends_the_chain_before_any_session() {
    let mut chain = begin(Tier::Observe);
    chain.performed(0).unwrap();
    chain.aborted("the hook\nfailed", 0).unwrap();
    let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
    assert_eq!(record.session, None);
    assert_eq!(record.events[0].message, "tier 1 did not begin: the hook failed");
    assert_eq!((end(&mut chain), chain.sessions()), (ChainOutcome::Aborted, [].as_slice()));
}

/// What was done is looked at again: the services are in the outcome, each once.
#[test]
fn what_was_acted_on_is_told_at_the_end() {
    let action = |service: &str| ActionRecord {
        id: service.to_owned(),
        service: service.to_owned(),
        action: CooldownAction::Restart,
        at_ms: 0,
        state: ActionState::Reserved,
        session_id: Some("s".to_owned()),
    };
    let actions = [action("b"), action("a"), action("b")];
    let mut chain = begin(Tier::Investigate);
    begin_session(&mut chain, "s");
    let known = Known { actions: &actions, ..Known::NOTHING };
    chain.finished(&finished(Escalation::NotNeeded), &known, 2).unwrap();
    let acted_on = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(end(&mut chain), ChainOutcome::Settled { acted_on });
}

/// CO-12: a session that fails is told, and ends its chain unless its answer asks for more.
#[test_case(SessionEnding::Exited { code: 2, claim: ExitClaim::Fine }, &ChainOutcome::Failed, "tier 1 failed with exit code 2")]
#[test_case(SessionEnding::Exited { code: 0, claim: ExitClaim::Error }, &ChainOutcome::Failed, "tier 1 calls its own result an error")]
#[test_case(SessionEnding::TimedOut, &ChainOutcome::Failed, "tier 1 took too long and was ended")]
#[test_case(SessionEnding::Stopped, &ChainOutcome::Stopped, "an operator stopped tier 1")]
fn co_12_a_session_that_fails_is_told(ending: SessionEnding, outcome: &ChainOutcome, told: &str) {
    let mut chain = begin(Tier::Observe);
    begin_session(&mut chain, "s");
    let record = end_session(&mut chain, &Finished::without_answer(ending));
    assert_eq!(record.session.unwrap().status, ending.status());
    let messages: Vec<&str> = record.events.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, [told]);
    assert_eq!(&end(&mut chain), outcome);
}

/// CO-74, CO-76: an unreadable handoff is deleted after its session, not at the next chain.
#[test]
fn co_76_a_handoff_is_deleted_after_any_reading() {
    let mut chain = begin(Tier::Observe);
    begin_session(&mut chain, "s");
    let handoff = HandoffFile::Unreadable("permission denied".to_owned());
    let finished = Finished { handoff, ..Finished::without_answer(SessionEnding::FINE) };
    end_session(&mut chain, &finished);
    chain.performed(2).unwrap();
    assert_eq!(chain.step(), Step::DeleteHandoff);
    assert_eq!(end(&mut chain), ChainOutcome::Blocked(BlockedBy::InvalidHandoff));
}

/// P1: a session that had begun is not begun again.
#[test_case(Tier::Observe, Level::Warning, 0)]
#[test_case(Tier::Investigate, Level::Critical, 1)]
fn a_session_whose_watch_is_gone_is_lost(tier: Tier, level: Level, notifications: usize) {
    let mut chain = begin(tier);
    begin_session(&mut chain, "s");
    let actions = [acted("s", "web"), acted("other", "db")];
    chain.recovered(ChainPolicy::default(), &actions, 9);
    let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
    assert_eq!(record.session.unwrap().status, SessionStatus::Failed);
    assert_eq!((record.events[0].level, record.notifications.len()), (level, notifications));
    assert_eq!(chain.acted_on(), ["web"], "it is looked at again");
    assert_eq!(end(&mut chain), ChainOutcome::Lost);
}

fn acted(session: &str, service: &str) -> ActionRecord {
    ActionRecord {
        id: format!("{session}-{service}"),
        service: service.to_owned(),
        action: CooldownAction::Restart,
        at_ms: 1,
        state: ActionState::Unknown,
        session_id: Some(session.to_owned()),
    }
}

/// Returns a chain as it is stored between two sessions: the first asked for the next tier.
fn left_between_sessions() -> Chain {
    let mut chain = begin(Tier::Observe);
    begin_session(&mut chain, "s");
    end_session(&mut chain, &needed());
    chain.performed(2).unwrap();
    stored(&chain)
}

/// The chain, as the next watch reads it.
fn stored(chain: &Chain) -> Chain {
    serde_json::from_str(&serde_json::to_string(chain).unwrap()).unwrap()
}

/// S2: what was left for long is not acted on, between two sessions or before the first; what was not, is.
#[test]
fn a_chain_that_was_left_for_long_is_not_gone_on_with() {
    for (left, moved_at_ms) in [(left_between_sessions(), 2), (stored(&begin(Tier::Observe)), 0)] {
        let mut soon = left.clone();
        soon.recovered(ChainPolicy::default(), &[], moved_at_ms + STALE_MS);
        assert_eq!(soon, left);
        let mut late = left;
        late.recovered(ChainPolicy::default(), &[], moved_at_ms + STALE_MS + 1);
        assert_eq!(end(&mut late), ChainOutcome::Stale);
    }
}

/// What is over but for its last step is not stale, however long it was left.
#[test]
fn a_chain_that_had_ended_ends_as_it_had() {
    let mut chain = begin(Tier::Observe);
    begin_session(&mut chain, "s");
    end_session(&mut chain, &finished(Escalation::NotNeeded));
    chain.performed(2).unwrap();
    let mut chain = stored(&chain);
    chain.recovered(ChainPolicy::default(), &[], 3 + STALE_MS);
    assert_eq!(end(&mut chain), settled());
}

/// CO-77, CO-78: whoever goes on goes by the policy of today, and says so as ever.
#[test_case(&EscalationPolicy { mode: WatchMode::DryRun, ..EscalationPolicy::default() }, BlockedBy::DryRun, Level::Info, 0; "a dry run")]
#[test_case(&EscalationPolicy { max_tier: Tier::Observe, ..EscalationPolicy::default() }, BlockedBy::MaxTier, Level::Critical, 1; "a lower tier at most")]
#[test_case(&EscalationPolicy { approval: vec![Tier::Investigate], ..EscalationPolicy::default() }, BlockedBy::NeedsApproval, Level::Warning, 1; "leave")]
fn co_77_a_chain_that_was_left_goes_on_by_the_policy_of_today(
    escalation: &EscalationPolicy,
    by: BlockedBy,
    level: Level,
    notifications: usize,
) {
    let policy = ChainPolicy { escalation: escalation.clone(), ..ChainPolicy::default() };
    let mut chain = left_between_sessions();
    chain.recovered(policy, &[], 3);
    let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
    let told: Vec<Level> = record.events.iter().map(|it| it.level).collect();
    assert_eq!((told, record.notifications.len()), (vec![level], notifications));
    assert!(record.events[0].message.starts_with("escalation to tier 2 blocked (a): "));
    let proposal = record.proposal.filter(|it| it.from_session == "s");
    let context = proposal.map(|it| it.escalate.context);
    assert_eq!(context.is_some(), by == BlockedBy::NeedsApproval);
    assert!(context.is_none_or(|it| it.contains("### Reason\n> r")), "it is told what was said");
    assert_eq!(end(&mut chain), ChainOutcome::Blocked(by));
}

/// CO-77: nor does a chain begin that was left before its first session.
#[test]
fn a_chain_that_was_left_begins_by_the_policy_of_today() {
    let dry = EscalationPolicy { mode: WatchMode::DryRun, ..EscalationPolicy::default() };
    let policy = ChainPolicy { escalation: dry, ..ChainPolicy::default() };
    let mut chain = stored(&begin(Tier::Remediate));
    chain.recovered(policy, &[], 1);
    assert_eq!(end(&mut chain), ChainOutcome::Blocked(BlockedBy::DryRun));
}

/// CO-12: a session that ended well and left nothing at all has failed, and so has its chain.
#[test]
fn co_12_a_session_that_leaves_nothing_has_failed() {
    let mut chain = begin(Tier::Observe);
    begin_session(&mut chain, "s");
    let record = end_session(&mut chain, &Finished::without_answer(SessionEnding::FINE));
    assert_eq!(record.session.unwrap().status, SessionStatus::Failed);
    let told: Vec<&str> = record.events.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["tier 1 ended without an answer: what it found is not known"]);
    assert_eq!(end(&mut chain), ChainOutcome::Failed);
}

/// What waits for leave to the same is withdrawn, with a word; what waits for something else is not.
#[test]
fn a_new_proposal_supersedes_the_older() {
    let approval = vec![Tier::Investigate];
    let escalation = EscalationPolicy { approval, ..EscalationPolicy::default() };
    let policy = ChainPolicy { escalation, ..ChainPolicy::default() };
    let mut chain = Chain::begin(start(Tier::Observe), policy, 0);
    begin_session(&mut chain, "s");
    let waiting = |id: &str, service: &str| Waiting {
        id: id.to_owned(),
        to: Tier::Investigate,
        affected: vec![service.to_owned()],
        asked_at_ms: 0,
    };
    let waiting = [waiting("same", "a"), waiting("other", "b")];
    let known = Known { waiting: &waiting, ..Known::NOTHING };
    chain.finished(&needed(), &known, 2).unwrap();
    let Step::Record(record) = chain.step() else { panic!("{:?}", chain.step()) };
    assert_eq!(record.superseded, ["same"]);
    let told = "an earlier escalation to tier 2 (a) is declined: the same is asked for anew";
    assert_eq!(record.events.last().unwrap().message, told);
}

#[test]
fn a_watch_that_is_stopped_between_sessions_says_so() {
    let mut chain = begin(Tier::Observe);
    assert!(chain.stopped(0).is_err());
    chain.performed(0).unwrap();
    chain.stopped(0).unwrap();
    assert_eq!(end(&mut chain), ChainOutcome::Stopped);
}

/// S3: a chain may begin with what somebody gave leave to.
#[test]
fn an_approved_escalation_is_gone_on_with() {
    let approval = vec![Tier::Investigate];
    let escalation = EscalationPolicy { approval, ..EscalationPolicy::default() };
    let policy = ChainPolicy { escalation, ..ChainPolicy::default() };
    let mut chain = Chain::begin(start(Tier::Observe), policy.clone(), 0);
    begin_session(&mut chain, "s1");
    let proposal = end_session(&mut chain, &needed()).proposal.unwrap();
    assert_eq!(end(&mut chain), ChainOutcome::Blocked(BlockedBy::NeedsApproval));
    let start = ChainStart { approved: Some(proposal.clone()), ..start(proposal.escalate.to) };
    let mut chain = Chain::begin(start, policy, 5);
    let brief = begin_session(&mut chain, "s2");
    let expected = (Tier::Investigate, Some("s1".to_owned()), Some(proposal.escalate.context));
    assert_eq!((brief.tier, brief.parent, brief.escalation), expected);
}

/// CO-4: one session at a time; what nobody asked for is refused.
#[test]
fn co_4_what_is_out_of_turn_is_refused() {
    let mut chain = begin(Tier::Observe);
    let nothing = Finished::without_answer(SessionEnding::FINE);
    assert!(chain.began("s", 0).is_err());
    assert!(chain.finished(&nothing, &Known::NOTHING, 0).is_err());
    begin_session(&mut chain, "s");
    let before = chain.clone();
    let error = chain.began("t", 0).unwrap_err();
    let text = "a chain that is in a session cannot be told that it began a session";
    assert_eq!(error.to_string(), text);
    assert!(chain.performed(0).is_err());
    assert!(chain.aborted("x", 0).is_err());
    assert_eq!(chain, before);
}
