//! Text: what formats and patterns ask for, else a short sentence about the property.

use serde_json::Value;

use super::LENGTH_LIMIT;
use super::choice::Choices;
use super::demand::Demand;
use super::known::Known;
use crate::json::Pointer;

/// How long a text for a pattern is if it may be: `a` is no slug that one believes.
const PATTERN_LENGTH: usize = 6;

/// Returns the `variant`-th string that fits.
pub(super) fn sample(
    demand: &Demand<'_>,
    at: &Pointer,
    variant: usize,
    choices: &mut Choices,
    known: &mut Known,
) -> Option<String> {
    let least = demand.at_least("minLength");
    let most = demand.at_most("maxLength");
    if least > most || least > LENGTH_LIMIT {
        return None;
    }
    let texts = |keyword| demand.all(keyword).filter_map(Value::as_str);
    let mut candidates: Vec<String> = Vec::new();
    candidates.extend(texts("format").filter_map(|format| formatted(format, variant)));
    for pattern in texts("pattern") {
        candidates.extend(known.sample(pattern, least.max(PATTERN_LENGTH), variant));
        candidates.extend(known.sample(pattern, least, variant));
        candidates.extend(known.sample(pattern, least, variant + 1));
    }
    candidates.extend(encoded(demand));
    candidates.push(prose(at, least, most, variant));
    candidates.extend(least_text(least, variant));
    candidates.retain(|text| (least..=most).contains(&text.chars().count()));
    let chosen = choices.pick(at, "text", candidates.len());
    candidates.into_iter().nth(chosen)
}

fn formatted(format: &str, variant: usize) -> Option<String> {
    let n = variant % 28;
    Some(match format {
        "date-time" => format!("2026-02-{:02}T09:30:00Z", n + 1),
        "date" => format!("2026-02-{:02}", n + 1),
        "time" => format!("09:{:02}:00Z", n + 30),
        "duration" => format!("PT{}M", variant + 15),
        "email" | "idn-email" => format!("{}@example.com", label("ada", variant)),
        "hostname" | "idn-hostname" => format!("{}.example.com", label("www", variant)),
        "ipv4" => format!("192.0.2.{}", n + 1),
        "ipv6" => format!("2001:db8::{}", n + 1),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => {
            format!("https://example.com/{}", label("page", variant))
        }
        "uri-template" => format!("https://example.com/{{{}}}", label("page", variant)),
        "uuid" => format!("5f0c4c1e-9a3b-4d7e-8b21-{:012}", variant + 1),
        "json-pointer" => format!("/{}", label("name", variant)),
        "relative-json-pointer" => format!("{variant}/name"),
        "regex" => format!("^[a-z]{{{}}}$", variant + 1),
        _ => return None,
    })
}

fn label(word: &str, variant: usize) -> String {
    if variant == 0 { word.to_owned() } else { format!("{word}{}", variant + 1) }
}

/// Returns an empty JSON object in the encoding that the schema names.
fn encoded(demand: &Demand<'_>) -> Option<String> {
    let encoding = demand.all("contentEncoding").next().and_then(Value::as_str);
    let media = demand.all("contentMediaType").next().and_then(Value::as_str);
    match (encoding, media) {
        (Some("base64"), _) => Some("e30=".to_owned()),
        (_, Some("application/json")) => Some("{}".to_owned()),
        _ => None,
    }
}

/// Returns a sentence named after the property, as long as it must be.
fn prose(at: &Pointer, least: usize, most: usize, variant: usize) -> String {
    let segments: Vec<String> = at.segments().collect();
    let name = segments.iter().rev().find(|segment| segment.parse::<usize>().is_err());
    let subject = name.map_or_else(|| "text".to_owned(), |name| words(name));
    let mut text = format!("Example {subject}");
    if variant > 0 {
        text = format!("{text} {}", variant + 1);
    }
    let sentence = format!(". This is what the {subject} could say");
    let missing = least.saturating_sub(text.chars().count());
    text.push_str(&sentence.repeat(missing.div_ceil(sentence.chars().count())));
    // The end tells variants apart, so the front goes.
    let excess = text.chars().count().saturating_sub(most);
    text.chars().skip(excess).collect()
}

/// Splits `camelCase` and `snake_case`.
fn words(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        let is_word = character.is_alphanumeric();
        out.extend(if is_word { character.to_lowercase().next() } else { Some(' ') });
    }
    out.trim().to_owned()
}

/// Returns the shortest text there can be; letters tell variants apart.
fn least_text(least: usize, variant: usize) -> Option<String> {
    let letter = ('a'..='z').nth(variant % 26)?;
    Some(std::iter::repeat_n(letter, least).collect())
}
