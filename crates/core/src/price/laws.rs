//! Laws of money.

use proptest::prelude::*;
use test_case::test_case;

use super::table::rows;
use super::{Cost, Price};
use crate::codec::{Usage, Wire};

#[test_case(Wire::Anthropic, "claude-sonnet-4-5-20250929", Some(3_000_000); "a dated release")]
#[test_case(Wire::Anthropic, "claude-opus-4-1-20250805", Some(15_000_000); "the longest family")]
#[test_case(Wire::Anthropic, "claude-opus-4-20250514", Some(15_000_000); "a date is no version")]
#[test_case(Wire::Anthropic, "claude-3-5-haiku-latest", Some(800_000); "the latest release")]
#[test_case(Wire::Anthropic, "claude-opus-4-9", None; "a version of tomorrow")]
#[test_case(Wire::Responses, "gpt-5-2025-08-07", Some(1_250_000); "a date with dashes")]
#[test_case(Wire::Chat, "gpt-5-mini", Some(250_000); "a smaller one")]
#[test_case(Wire::Chat, "gpt-5.9", None; "another number")]
#[test_case(Wire::Chat, "gpt-5-ultra", None; "another word")]
#[test_case(Wire::Chat, "qwen3:8b", None; "somebody else's")]
#[test_case(Wire::Chat, "claude-opus-4-8", None; "another provider's")]
#[test_case(Wire::Gemini, "models/gemini-2.5-flash-preview-09-2025", Some(300_000); "a preview")]
#[test_case(Wire::Gemini, "gemini-2.5-flash-lite", Some(100_000); "a lighter one")]
fn a_model_is_priced_by_its_own_name_or_not_at_all(wire: Wire, model: &str, input: Option<u64>) {
    assert_eq!(Price::of(wire, model).map(|price| price.input), input);
}

#[test]
fn every_row_is_found_under_its_own_name() {
    for wire in [Wire::Anthropic, Wire::Responses, Wire::Gemini] {
        for row in rows(wire) {
            let price = row.price();
            assert_eq!(Price::of(wire, row.family), Some(price), "{}", row.family);
            assert!(price.cache_read < price.input && price.input < price.output);
            assert!(price.input <= price.cache_write);
        }
    }
}

fn usage(input: u64, read: u64, written: u64, output: u64) -> Usage {
    Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_read_input_tokens: Some(read),
        cache_creation_input_tokens: Some(written),
        reasoning_tokens: Some(output),
    }
}

#[test_case("claude-opus-4-8", Wire::Anthropic, usage(1_000_000, 0, 0, 0), 5.0; "input")]
#[test_case("claude-opus-4-8", Wire::Anthropic, usage(1_000_000, 500_000, 100_000, 1_000), 2.9; "caches are part of the input")]
#[test_case("gemini-2.5-pro", Wire::Gemini, usage(200_000, 0, 0, 1_000), 0.26; "up to the step")]
#[test_case("gemini-2.5-pro", Wire::Gemini, usage(200_001, 0, 0, 1_000), 0.515_002_5; "past the step")]
#[test_case("gpt-5-nano", Wire::Chat, usage(1, 0, 0, 0), 0.000_000_05; "one token")]
fn tokens_cost_what_the_table_says(model: &str, wire: Wire, usage: Usage, dollars: f64) {
    let cost = Price::of(wire, model).unwrap().cost(&usage);
    assert_eq!(cost, Cost::from_usd(dollars).unwrap());
}

#[test]
fn money_is_written_as_dollars() {
    let cost = Cost::from_usd(0.1).unwrap();
    assert_eq!(serde_json::to_string(&cost).unwrap(), "0.1");
    assert_eq!(serde_json::from_str::<Cost>("2").unwrap(), Cost::from_usd(2.0).unwrap());
    assert!(serde_json::from_str::<Cost>("-1").is_err());
}

#[test_case(-0.01; "debts")]
#[test_case(f64::NAN; "not a number")]
#[test_case(f64::INFINITY; "infinity")]
#[test_case(1e9; "too much")]
fn what_is_no_amount_is_refused(dollars: f64) {
    assert_eq!(Cost::from_usd(dollars), None);
}

proptest! {
    #[test]
    fn an_amount_survives_its_number_of_dollars(picodollars in 0_u64..1_000_000_000_000_000) {
        let cost = Cost(picodollars);
        prop_assert_eq!(Cost::from_usd(cost.usd()), Some(cost));
    }

    #[test]
    fn any_usage_has_a_cost(
        input in any::<Option<u64>>(),
        read in any::<Option<u64>>(),
        written in any::<Option<u64>>(),
    ) {
        let usage = Usage {
            input_tokens: input,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
            ..Usage::default()
        };
        let price = Price::of(Wire::Anthropic, "claude-opus-4-8").unwrap();
        let more = Usage { output_tokens: Some(1), ..usage };
        prop_assert!(price.cost(&usage) <= price.cost(&more));
    }
}
