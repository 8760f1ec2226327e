//! What is remembered: what sessions claim, and what that comes to by the closed formula, reckoned here without
//! any of the code that is tested.

use airtight_core::watch::{Tier, Trust};

use crate::chance::Chance;
use crate::crew::day;
use crate::record::Ledgered;
use crate::world::{BEGIN_MS, DAY_MS, Line, SERVICES, World};

/// Room for a few memories, and by far not for all.
pub(crate) const BUDGET_TOKENS: u32 = 220;

/// What was known before the month: service, category, observation, thousandths, and how many days before it
/// was confirmed. The first fades unconfirmed, the second is confirmed while it fades, the third is forgotten
/// and learnt anew.
pub(crate) const OLD: [(Option<&str>, &str, &str, i64, i64); 3] = [
    (None, "maintenance", "Backups run at night", 700, 25),
    (Some("db"), "maintenance", "Vacuum runs on Sundays", 900, 40),
    (Some("web"), "dependency", "web needs db", 600, 50),
];

/// Returns what a session claims, by chance.
pub(crate) fn claims(tier: Tier, chance: &Chance, now_ms: i64) -> Vec<(String, String)> {
    let name = SERVICES[usize::try_from(chance.below(5)).unwrap()];
    let timing = |seconds: u32| (format!("{name}:timing"), format!("{name} starts in {seconds} s"));
    let other = 35 + 5 * u32::try_from(chance.below(12)).unwrap();
    let usual = if chance.is_one_in(5) { timing(other) } else { timing(30) };
    let mut claims = Vec::new();
    match tier {
        Tier::Observe if chance.is_one_in(30) => {
            // Said twice it counts once, and side by side it contradicts nothing.
            let (key, value) = timing(30);
            claims.extend([timing(30), timing(90), (key, format!(" {}. ", value.to_uppercase()))]);
        }
        Tier::Observe if chance.is_one_in(6) => claims.push(usual),
        Tier::Observe => {}
        Tier::Investigate => {
            if chance.is_one_in(2) {
                claims.push(usual);
            }
            if chance.is_one_in(3) {
                claims.push((format!("{name}:behavior"), format!("{name} leaks memory")));
            }
        }
        Tier::Remediate => {
            let helps = if chance.is_one_in(3) { "a restart" } else { "a redeployment" };
            claims.push((format!("{name}:remediation"), format!("{name}: {helps} helps")));
        }
    }
    let again = tier == Tier::Observe && chance.is_one_in(12);
    if again && day(now_ms) >= 12 {
        claims.push(("db:maintenance".to_owned(), "vacuum runs on sundays.".to_owned()));
    }
    if again && day(now_ms) >= 20 {
        claims.push(("web:dependency".to_owned(), "web needs db".to_owned()));
    }
    claims
}

/// CO-54, CO-56: what a session is told fits the budget, is counted right, and is worth telling.
pub(crate) fn assert_told(prompt: &str, budget_tokens: u32) {
    let Some(start) = prompt.find("## Memory (") else { return };
    let block = &prompt[start..];
    let fence_at = block.find("```").unwrap();
    let fence: String = block[fence_at..].chars().take_while(|next| *next == '`').collect();
    let opened = fence_at + fence.len();
    let closed = block[opened..].find(&format!("\n{fence}")).unwrap();
    let end = opened + closed + 1 + fence.len();
    let block = &block[..end];
    let tokens = block.chars().count().div_ceil(4);
    assert!(tokens <= usize::try_from(budget_tokens).unwrap(), "{tokens} tokens: {block}");
    let told: Vec<&str> = block.lines().filter(|line| line.starts_with("- [")).collect();
    let header = format!("## Memory ({} of ", told.len());
    assert!(block.starts_with(&header), "{block}");
    for line in told {
        let (_, worth) = line.split_once("(confidence: ").unwrap();
        let worth: f64 = worth.split(',').next().unwrap().parse().unwrap();
        assert!((0.3..=1.0).contains(&worth), "{line}");
    }
}

/// A memory as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    key: String,
    observation: String,
    thousandths: i64,
    confirmed_at_ms: i64,
    trust: &'static str,
}

impl Expected {
    /// CO-55: 30 days take nothing, then each full week a tenth, and nothing is left at least.
    fn worth(&self, now_ms: i64) -> i64 {
        let weeks = (now_ms - self.confirmed_at_ms - 30 * DAY_MS).max(0) / (7 * DAY_MS);
        (self.thousandths - 100 * weeks).max(0)
    }

    fn is_active(&self, now_ms: i64) -> bool {
        self.worth(now_ms) >= 300
    }

    fn says(&self, (key, observation): &(String, String)) -> bool {
        self.key == *key && plain(&self.observation) == plain(observation)
    }
}

fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', ' ']).to_owned()
}

/// CO-52..CO-54: what one session does to what is known.
fn learn(known: &mut Vec<Expected>, claims: &[(String, String)], tier: u8, at_ms: i64) {
    let before = known.clone();
    let mut heard: Vec<&(String, String)> = Vec::new();
    for claim in claims {
        let is_heard = heard.iter().any(|it| it.0 == claim.0 && plain(&it.1) == plain(&claim.1));
        let is_refused = before.iter().any(|it| it.trust == "rejected" && it.says(claim));
        if !is_heard && !is_refused {
            heard.push(claim);
        }
    }
    let trust = if tier == 3 { "pending" } else { "trusted" };
    let mut contradicted = Vec::new();
    for claim in &heard {
        let same = before
            .iter()
            .position(|it| it.trust != "rejected" && it.is_active(at_ms) && it.says(claim));
        if let Some(place) = same {
            known[place].thousandths = (before[place].worth(at_ms) + 100).min(1_000);
            known[place].confirmed_at_ms = at_ms;
        } else {
            contradicted.push(claim.0.clone());
            known.push(Expected {
                key: claim.0.clone(),
                observation: claim.1.trim().to_owned(),
                thousandths: 700,
                confirmed_at_ms: at_ms,
                trust,
            });
        }
    }
    if trust == "trusted" {
        for (place, it) in before.iter().enumerate() {
            let is_said = heard.iter().any(|claim| it.says(claim));
            if it.trust == "trusted"
                && it.is_active(at_ms)
                && contradicted.contains(&it.key)
                && !is_said
            {
                known[place].thousandths = (it.thousandths - 200).max(0);
            }
        }
    }
}

/// What an operator decides: leave lets a memory contradict what it could not before.
fn decide(known: &mut [Expected], observation: &str, is_trusted: bool, at_ms: i64) {
    let is_it = |it: &Expected| it.trust == "pending" && it.observation == observation;
    let place = known.iter().position(is_it).unwrap();
    known[place].trust = if is_trusted { "trusted" } else { "rejected" };
    let decided = (known[place].key.clone(), observation.to_owned());
    for (other, it) in known.iter_mut().enumerate() {
        let counts = other != place && it.trust == "trusted" && it.is_active(at_ms);
        if is_trusted && counts && it.key == decided.0 && !it.says(&decided) {
            it.thousandths = (it.thousandths - 200).max(0);
        }
    }
}

/// CO-53, CO-55: what is on record is what the claims of the month come to.
pub(crate) fn assert_all(record: &Ledgered, world: &World) {
    let key = |service: Option<&str>, category: &str| match service {
        Some(service) => format!("{service}:{category}"),
        None => category.to_owned(),
    };
    let old = |(service, category, observation, thousandths, days): &(_, &str, &str, i64, i64)| {
        Expected {
            key: key(*service, category),
            observation: (*observation).to_owned(),
            thousandths: *thousandths,
            confirmed_at_ms: BEGIN_MS - days * DAY_MS,
            trust: "trusted",
        }
    };
    let mut known: Vec<Expected> = OLD.iter().map(old).collect();
    let mut decisions = world.lines.iter().filter_map(|line| {
        let Line::Decided { observation, trusted, at_ms } = line else { return None };
        Some((observation, *trusted, *at_ms))
    });
    let mut next = decisions.next();
    let mut claimed = [0_usize; 3];
    for (session, said) in record.kept(world) {
        let at_ms = session.ended_at.unwrap();
        while let Some((observation, trusted, decided_at)) = next.filter(|it| it.2 < at_ms) {
            decide(&mut known, observation, trusted, decided_at);
            next = decisions.next();
        }
        learn(&mut known, &said.memories, said.tier, at_ms);
        claimed[usize::from(said.tier) - 1] += said.memories.len();
    }
    assert!(claimed.iter().all(|count| *count > 5), "every tier remembers: {claimed:?}");
    while let Some((observation, trusted, decided_at)) = next {
        decide(&mut known, observation, trusted, decided_at);
        next = decisions.next();
    }
    let mut stored: Vec<Expected> = record
        .memories
        .iter()
        .map(|it| Expected {
            key: key(it.service.as_deref(), &it.category),
            observation: it.observation.clone(),
            thousandths: it.confidence,
            confirmed_at_ms: it.reinforced_at,
            trust: it.trust.name(),
        })
        .collect();
    assert_variety(&stored);
    known.sort();
    stored.sort();
    assert_eq!(stored, known);
}

/// The month had everything in it.
fn assert_variety(stored: &[Expected]) {
    let has = |trust: Trust| stored.iter().any(|it| it.trust == trust.name());
    assert!(Trust::ALL.into_iter().all(has), "{stored:?}");
    let now_ms = BEGIN_MS + 30 * DAY_MS;
    let faded = stored.iter().filter(|it| it.worth(now_ms) < it.thousandths).count();
    assert!(faded >= 2, "time took something: {stored:?}");
    let again = stored.iter().filter(|it| it.key == "web:dependency").count();
    assert_eq!(again, 2, "what was forgotten is learnt anew: {stored:?}");
    let contradicted = stored.iter().any(|it| it.key.ends_with(":timing") && it.thousandths < 700);
    assert!(contradicted, "{stored:?}");
}
