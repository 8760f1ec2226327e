//! Whatever sessions do and whenever the watch dies: nothing is lost, nothing is done twice, and it ends.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::watch::escalation::{EscalationPolicy, WatchMode};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::markers::Markers;
use crate::watch::response::{AgentResponse, Escalation, EscalationRequest};
use crate::watch::session::{ExitClaim, HandoffFile, Legacy, Payload, Retold, SessionEnding};

/// What a session does.
#[derive(Debug, Clone)]
struct Play {
    ending: SessionEnding,
    payload: Said,
    handoff: Option<Vec<u8>>,
    markers: String,
    events: u8,
}

#[derive(Debug, Clone, Copy)]
enum Said {
    Nothing,
    Rejected,
    Fine,
    Escalate,
}

fn ending() -> impl Strategy<Value = SessionEnding> {
    prop_oneof![
        3 => Just(SessionEnding::FINE),
        1 => Just(SessionEnding::Exited { code: 1, claim: ExitClaim::Fine }),
        1 => Just(SessionEnding::Exited { code: 0, claim: ExitClaim::Error }),
        1 => Just(SessionEnding::Stopped),
        1 => Just(SessionEnding::TimedOut),
    ]
}

fn play() -> impl Strategy<Value = Play> {
    let payload = prop_oneof![
        1 => Just(Said::Nothing),
        1 => Just(Said::Rejected),
        1 => Just(Said::Fine),
        3 => Just(Said::Escalate),
    ];
    let handoff = prop_oneof![
        2 => Just(None),
        1 => Just(Some(b"{".to_vec())),
        1 => (0_u8..5).prop_map(|tier| Some(format!(
            r#"{{"schema_version":1,"recommended_tier":{tier},"services_affected":["a"]}}"#
        ).into_bytes())),
    ];
    let markers =
        prop::sample::select(vec!["", "[EVENT:info] m", "[EVENT:info]", "```\n[EVENT:info] m"]);
    (ending(), payload, handoff, markers, 0_u8..4).prop_map(
        |(ending, payload, handoff, markers, events)| Play {
            ending,
            payload,
            handoff,
            markers: markers.to_owned(),
            events,
        },
    )
}

fn finished(play: &Play, session: &str) -> Finished {
    let events =
        (0..play.events).map(|it| Event::of_session(Level::Info, None, format!("{session}/{it}")));
    let response = |escalation| {
        Payload::Accepted(Box::new(AgentResponse {
            summary: "s".to_owned(),
            events: events.clone().collect(),
            memories: Vec::new(),
            escalation,
            services_checked: Vec::new(),
        }))
    };
    let request = EscalationRequest { reason: None, context: None, failed_checks: Vec::new() };
    Finished {
        ending: play.ending,
        payload: match play.payload {
            Said::Nothing => Payload::Absent,
            Said::Rejected => Payload::Rejected("no".to_owned()),
            Said::Fine => response(Escalation::NotNeeded),
            Said::Escalate => response(Escalation::Needed(request)),
        },
        markers: Markers::read([play.markers.as_str()]),
        handoff: match &play.handoff {
            None => HandoffFile::Absent,
            Some(bytes) => HandoffFile::Present { bytes: bytes.clone() },
        },
        cost: Cost::from_usd(0.5),
        retold: Retold::Not,
    }
}

/// What is on disk: the state of the chain, and what was written with it.
#[derive(Debug, Default)]
struct Disk {
    state: String,
    records: Vec<Record>,
    /// Sessions that were started, whatever became of them.
    started: Vec<(String, Tier)>,
}

/// Whether the watch dies before it has stored what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Lives,
    Dies,
}

/// One life of a watch: goes on from the disk until the chain is over, or it dies.
fn live(
    disk: &mut Disk,
    plays: &[Play],
    policy: &ChainPolicy,
    fates: &mut impl Iterator<Item = Fate>,
) -> Option<ChainOutcome> {
    let mut chain: Chain = serde_json::from_str(&disk.state).unwrap();
    chain.recovered(policy.clone(), &[], 0);
    loop {
        match chain.step() {
            Step::Done(outcome) => return Some(outcome),
            Step::DeleteHandoff => {
                chain.performed(0).unwrap();
                store(disk, &chain, None);
            }
            Step::Record(record) => {
                chain.performed(0).unwrap();
                if fates.next() == Some(Fate::Dies) {
                    return None;
                }
                store(disk, &chain, Some(*record));
            }
            Step::RunTier(brief) => {
                let session = disk.started.len();
                let id = session.to_string();
                chain.began(id.clone(), 0).unwrap();
                store(disk, &chain, None);
                disk.started.push((id.clone(), brief.tier));
                if fates.next() == Some(Fate::Dies) {
                    return None;
                }
                let play = &plays[session % plays.len()];
                chain.finished(&finished(play, &id), &Known::NOTHING, 0).unwrap();
            }
        }
        if fates.next() == Some(Fate::Dies) {
            return None;
        }
    }
}

/// One transaction.
fn store(disk: &mut Disk, chain: &Chain, record: Option<Record>) {
    disk.state = serde_json::to_string(chain).unwrap();
    disk.records.extend(record);
}

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(Tier::ALL.to_vec())
}

proptest! {
    #[test]
    fn a_chain_ends_and_does_nothing_twice_whenever_it_dies(
        plays in vec(play(), 1..4),
        dies in vec(prop_oneof![6 => Just(Fate::Lives), 1 => Just(Fate::Dies)], 0..40),
        first in tier(),
        max_tier in tier(),
        mode in prop_oneof![3 => Just(WatchMode::Live), 1 => Just(WatchMode::DryRun)],
        legacy in prop_oneof![Just(Legacy::Read), Just(Legacy::Ignored)],
    ) {
        let escalation = EscalationPolicy { max_tier, mode, ..EscalationPolicy::default() };
        let policy = ChainPolicy { escalation, legacy, ..ChainPolicy::default() };
        let start = ChainStart {
            id: "c".to_owned(), trigger: Trigger::Scheduled, tier: first, request: None, approved: None,
        };
        let mut disk = Disk::default();
        store(&mut disk, &Chain::begin(start, policy.clone(), 0), None);
        let mut fates = dies.into_iter();
        // Each death uses up a fate, so that there is a last life.
        let outcome = loop {
            if let Some(outcome) = live(&mut disk, &plays, &policy, &mut fates) {
                break outcome;
            }
        };
        // Depth is bounded, tiers only go up by one, policy is kept.
        prop_assert!(disk.started.len() <= 3);
        prop_assert!(disk.started.windows(2).all(|pair| pair[0].1.next() == Some(pair[1].1)));
        prop_assert!(disk.started.iter().all(|(_, tier)| *tier <= max_tier));
        if mode == WatchMode::DryRun {
            prop_assert!(disk.started.iter().all(|(_, tier)| *tier == Tier::Observe));
        }
        // Every session that was started has one end on record, in order.
        let ended: Vec<&SessionEnd> =
            disk.records.iter().filter_map(|it| it.session.as_ref()).collect();
        let ids: Vec<(String, Tier)> = ended.iter().map(|it| (it.id.clone(), it.tier)).collect();
        prop_assert_eq!(&ids, &disk.started);
        // Only a session whose chain went on is called escalated.
        for (at, end) in ended.iter().enumerate() {
            let went_on = at + 1 < ended.len();
            let is_escalated = end.status == SessionStatus::Escalated;
            prop_assert_eq!(is_escalated, went_on || (is_escalated && outcome == ChainOutcome::Stale));
        }
        // No event is lost: what an accepted answer said is on record unless its watch died.
        for record in &disk.records {
            let Some(end) = &record.session else { continue };
            if end.extraction == Extraction::Structured {
                let play = &plays[end.id.parse::<usize>().unwrap() % plays.len()];
                let said = record.events.iter().filter(|it| it.message.starts_with(&format!("{}/", end.id)));
                prop_assert_eq!(said.count(), usize::from(play.events));
            }
        }
        // What is asked for and not done is told.
        if let ChainOutcome::Blocked(by) = &outcome {
            let last = disk.records.last().unwrap();
            prop_assert!(!last.events.is_empty());
            let is_quiet = matches!(by, BlockedBy::DryRun | BlockedBy::OperatorStop);
            if !is_quiet && last.session.is_some() {
                prop_assert_eq!(last.notifications.len(), 1);
            }
        }
    }

    #[test]
    fn a_state_survives_the_disk(plays in vec(play(), 1..4), first in tier()) {
        let start = ChainStart {
            id: "c".to_owned(), trigger: Trigger::Api, tier: first, request: Some("r".to_owned()), approved: None,
        };
        let mut chain = Chain::begin(start, ChainPolicy::default(), 7);
        let mut number = 0;
        loop {
            let text = serde_json::to_string(&chain).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Chain>(&text).unwrap(), &chain);
            match chain.step() {
                Step::Done(_) => break,
                Step::DeleteHandoff | Step::Record(_) => chain.performed(8).unwrap(),
                Step::RunTier(_) if matches!(chain.state, State::Ready { .. }) => {
                    chain.began(number.to_string(), 8).unwrap();
                }
                Step::RunTier(_) => {
                    let play = &plays[number % plays.len()];
                    chain.finished(&finished(play, "s"), &Known::NOTHING, 9).unwrap();
                    number += 1;
                }
            }
        }
    }
}
