//! What is remembered follows one formula, whatever happens in between.

use proptest::collection::vec;
use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::watch::level::Level;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn memory(id: &str, key: &str, observation: &str, thousandths: u16) -> Memory {
    Memory {
        id: id.to_owned(),
        key: MemoryKey::parse(key).unwrap(),
        observation: observation.to_owned(),
        confidence: Confidence::from_thousandths(thousandths),
        confirmed_at_ms: 0,
        trust: Trust::Trusted,
        source: MemorySource::Operator,
    }
}

fn claim(key: &str, observation: &str) -> MemoryClaim {
    let key = MemoryKey::parse(key).unwrap();
    MemoryClaim { key, observation: observation.to_owned() }
}

fn session(tier: Tier) -> MemorySource {
    MemorySource::Session { id: "s".to_owned(), tier }
}

fn learn_at(memories: &[Memory], claims: &[MemoryClaim], now_ms: i64) -> Learned {
    let policy = MemoryPolicy::default();
    learn(memories, claims, &session(Tier::Observe), &policy, now_ms)
}

fn new(claim: &MemoryClaim, trust: Trust, tier: Tier) -> MemoryChange {
    MemoryChange::Insert(NewMemory {
        key: claim.key.clone(),
        observation: claim.observation.clone(),
        confidence: Confidence::NEW,
        confirmed_at_ms: 0,
        trust,
        source: session(tier),
    })
}

fn confirm(id: &str, thousandths: u16, confirmed_at_ms: i64) -> MemoryChange {
    let confidence = Confidence::from_thousandths(thousandths);
    MemoryChange::Confirm { id: id.to_owned(), confidence, confirmed_at_ms }
}

fn weaken(id: &str, thousandths: u16) -> MemoryChange {
    let confidence = Confidence::from_thousandths(thousandths);
    MemoryChange::Weaken { id: id.to_owned(), confidence }
}

/// CO-52: 0.7, with its session and tier.
#[test]
fn co_52_a_new_memory_has_seven_tenths() {
    let claim = claim("caddy:timing", "starts in 5 s");
    let learned = learn_at(&[], std::slice::from_ref(&claim), 0);
    assert_eq!(learned.changes, [new(&claim, Trust::Trusted, Tier::Observe)]);
    assert_eq!(learned.events, []);
}

/// CO-53: the same adds a tenth up to one, and adds no row.
#[test_case(700 => 800)]
#[test_case(950 => 1_000; "the cap")]
#[test_case(1_000 => 1_000; "at the cap")]
fn co_53_the_same_adds_a_tenth(thousandths: u16) -> u16 {
    let known = [memory("m", "caddy:timing", "Starts in 5 s.", thousandths)];
    let learned = learn_at(&known, &[claim("caddy:timing", "starts in  5 s")], 7);
    match learned.changes.as_slice() {
        [MemoryChange::Confirm { id, confidence, confirmed_at_ms: 7 }] if id == "m" => {
            confidence.thousandths()
        }
        other => panic!("{other:?}"),
    }
}

/// CO-53 as decided: something else takes two tenths and adds a row.
#[test]
fn co_53_something_else_takes_two_tenths() {
    let known = [
        memory("m", "caddy:timing", "starts in 5 s", 700),
        memory("other service", "jellyfin:timing", "starts in 5 s", 700),
        memory("other category", "caddy:behavior", "starts in 5 s", 700),
        memory("no service", "timing", "starts in 5 s", 700),
        memory("forgotten", "caddy:timing", "starts in 4 s", 299),
    ];
    let claim = claim("caddy:timing", "starts in 9 s");
    let learned = learn_at(&known, std::slice::from_ref(&claim), 0);
    let expected = [new(&claim, Trust::Trusted, Tier::Observe), weaken("m", 500)];
    assert_eq!(learned.changes, expected);
}

#[test]
fn a_session_counts_once_and_does_not_contradict_itself() {
    let known = [memory("a", "timing", "a", 700), memory("b", "timing", "b", 700)];
    let said =
        [claim("timing", "a"), claim("timing", "A."), claim("timing", "c"), claim("timing", "d")];
    let learned = learn_at(&known, &said, 0);
    let added = |it: &MemoryClaim| new(it, Trust::Trusted, Tier::Observe);
    let expected = [confirm("a", 800, 0), added(&said[2]), added(&said[3]), weaken("b", 500)];
    assert_eq!(learned.changes, expected);
}

/// CO-54: below 0.3 it is inactive, and learning the same anew is a new memory.
#[test]
fn co_54_what_has_faded_is_learnt_anew() {
    let known = [memory("m", "timing", "a", 700)];
    let claims = [claim("timing", "a")];
    let at = |days: i64| learn_at(&known, &claims, days * DAY_MS).changes;
    assert_eq!(at(58), [confirm("m", 400, 58 * DAY_MS)]);
    assert!(matches!(at(65).as_slice(), [MemoryChange::Insert(_)]));
}

/// Memory poisoning: what comes from a tier that reads what strangers wrote waits, and harms nothing.
#[test]
fn what_needs_leave_contradicts_nothing_until_it_has_it() {
    let known = [memory("m", "timing", "a", 700)];
    let said = claim("timing", "b");
    let policy = MemoryPolicy::default();
    let source = session(Tier::Investigate);
    let learned = learn(&known, std::slice::from_ref(&said), &source, &policy, 0);
    assert_eq!(learned.changes, [new(&said, Trust::Pending, Tier::Investigate)]);
    let waiting = Memory { trust: Trust::Pending, ..memory("n", "timing", "b", 700) };
    assert!(!waiting.is_told_at(0));
    let known = [known[0].clone(), waiting];
    let leave = MemoryChange::Trust { id: "n".to_owned(), trust: Trust::Trusted };
    assert_eq!(approve(&known, "n", 0), [leave, weaken("m", 500)]);
    assert_eq!(approve(&known, "m", 0), []);
    let permissive = MemoryPolicy { needs_leave: Vec::new() };
    let learned = learn(&known[..1], std::slice::from_ref(&said), &source, &permissive, 0);
    assert_eq!(learned.changes.len(), 2);
}

/// What somebody says who needs no leave is told, although the same waits for it already.
#[test]
fn what_is_believed_is_not_hidden_behind_what_waits_for_leave() {
    let waiting = Memory { trust: Trust::Pending, ..memory("n", "timing", "b", 700) };
    let known = [memory("m", "timing", "a", 700), waiting];
    let leave = MemoryChange::Trust { id: "n".to_owned(), trust: Trust::Trusted };
    let learned = learn_at(&known, &[claim("timing", "B.")], 7);
    assert_eq!(learned.changes, [leave, confirm("n", 800, 7), weaken("m", 500)]);
    let (policy, source) = (MemoryPolicy::default(), session(Tier::Investigate));
    let learned = learn(&known, &[claim("timing", "b")], &source, &policy, 7);
    assert_eq!(learned.changes, [confirm("n", 800, 7)], "who needs leave gives none");
    let told = [known[1].clone(), memory("told", "timing", "b", 700)];
    let learned = learn_at(&told, &[claim("timing", "b")], 7);
    assert_eq!(learned.changes, [confirm("told", 800, 7)], "what is told comes first");
}

#[test]
fn what_an_operator_rejected_stays_rejected() {
    let known = [Memory { trust: Trust::Rejected, ..memory("m", "caddy:timing", "a", 0) }];
    let learned = learn_at(&known, &[claim("caddy:timing", "A")], 0);
    assert_eq!(learned.changes, []);
    let told: Vec<(Level, Option<&str>)> =
        learned.events.iter().map(|it| (it.level, it.service.as_deref())).collect();
    assert_eq!(told, [(Level::Info, Some("caddy"))]);
}

/// The seed: "a missing message, or an excessively long observation text all pass through".
#[test]
fn what_is_no_fact_is_refused_and_told() {
    let long = "é".repeat(OBSERVATION_LIMIT_CHARS + 1);
    let exact = "é".repeat(OBSERVATION_LIMIT_CHARS);
    let said = [claim("timing", " . "), claim("timing", &long), claim("timing", &exact)];
    let learned = learn_at(&[], &said, 0);
    assert_eq!((learned.changes.len(), learned.events.len()), (1, 2));
    let many: Vec<MemoryClaim> = (0..40).map(|it| claim("timing", &format!("fact {it}"))).collect();
    let learned = learn_at(&[], &many, 0);
    assert_eq!((learned.changes.len(), learned.events.len()), (SESSION_CLAIMS_LIMIT, 1));
    assert!(learned.events[0].message.starts_with("24 memories are not kept"));
}

/// Applies a change to what is stored.
fn apply(memories: &mut Vec<Memory>, change: MemoryChange) {
    match change {
        MemoryChange::Insert(it) => {
            let NewMemory { key, observation, confidence, confirmed_at_ms, trust, source } = it;
            let id = memories.len().to_string();
            memories.push(Memory {
                id,
                key,
                observation,
                confidence,
                confirmed_at_ms,
                trust,
                source,
            });
        }
        MemoryChange::Confirm { id, confidence, confirmed_at_ms } => {
            let memory = memories.iter_mut().find(|it| it.id == id).unwrap();
            (memory.confidence, memory.confirmed_at_ms) = (confidence, confirmed_at_ms);
        }
        MemoryChange::Weaken { id, confidence } => {
            memories.iter_mut().find(|it| it.id == id).unwrap().confidence = confidence;
        }
        MemoryChange::Trust { id, trust } => {
            memories.iter_mut().find(|it| it.id == id).unwrap().trust = trust;
        }
    }
}

/// What happens to the memory with observation `x`: after so many hours, `x` or something else is said.
#[derive(Debug, Clone, Copy)]
enum Said {
    Same,
    Other(u32),
}

proptest! {
    /// CO-52 to CO-55: at any time, confidence is what the formula says of what was said until then.
    #[test]
    fn confidence_is_the_closed_formula(
        story in vec(
            (0_i64..24 * 50, prop_oneof![Just(Said::Same), any::<u32>().prop_map(Said::Other)]),
            0..12,
        ),
        looks in 1_usize..4,
    ) {
        let mut memories = Vec::new();
        for change in learn_at(&[], &[claim("timing", "x")], 0).changes {
            apply(&mut memories, change);
        }
        // The formula, in tenths: what it was worth, and when it was confirmed.
        let (mut base, mut confirmed, mut now, mut is_alive) = (7_i64, 0_i64, 0_i64, true);
        let worth = |base: i64, confirmed: i64, now: i64| {
            (base - (now - confirmed - 30 * DAY_MS).max(0) / (7 * DAY_MS)).max(0)
        };
        for (hours, said) in story {
            now += hours * 60 * 60 * 1_000;
            is_alive = is_alive && worth(base, confirmed, now) >= 3;
            let text = match said {
                Said::Same => "X.".to_owned(),
                Said::Other(number) => format!("other {number}"),
            };
            // Looking changes nothing, however often.
            for _ in 0..looks {
                drop(memory_block(&memories, 2_000, now));
            }
            let is_new = |it: &Memory| it.is_active_at(now) && it.says(&text);
            let contradicts = !memories.iter().any(is_new);
            for change in learn_at(&memories, &[claim("timing", &text)], now).changes {
                apply(&mut memories, change);
            }
            match said {
                Said::Same if is_alive => {
                    (base, confirmed) = ((worth(base, confirmed, now) + 1).min(10), now);
                }
                Said::Other(_) if is_alive && contradicts => base = (base - 2).max(0),
                Said::Same | Said::Other(_) => {}
            }
            let first = &memories[0];
            let expected = worth(base, confirmed, now) * 100;
            prop_assert_eq!(i64::from(first.confidence_at(now).thousandths()), expected);
            prop_assert!(memories.iter().all(|it| it.confidence <= Confidence::FULL));
        }
    }
}
