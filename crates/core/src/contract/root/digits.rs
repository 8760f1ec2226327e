//! Numbers that the canonical form rounds and the verdict does not.
//!
//! The canonical form divides in floats of 64 bits. Where a schema divides (`multipleOf`) and names
//! numbers that such a float does not hold, it may be wrong, and nothing it says counts.

use serde_json::{Number, Value};

use crate::contract::subschemas::Subschemas;

/// Keywords whose values are compared with what is divided.
const NUMBERS: [&str; 7] =
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const", "enum"];

/// How many digits every float of 64 bits holds.
const DIGITS: usize = 15;

/// The first integer behind which floats of 64 bits leave some out.
const LARGE: f64 = 9_007_199_254_740_992.0;

/// What a schema asks of numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Digits {
    divides: bool,
    /// Names a number that a float may not hold.
    is_long: bool,
}

impl Digits {
    pub(crate) fn of(subschemas: &Subschemas<'_>) -> Self {
        let mut digits = Self::default();
        for members in subschemas.iter().filter_map(|(_, site)| site.members()) {
            digits.divides |= members.contains_key("multipleOf");
            digits.is_long |= NUMBERS.iter().filter_map(|name| members.get(*name)).any(has_long);
        }
        digits
    }

    /// Returns what two schemas ask of the same numbers.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { divides: self.divides || other.divides, is_long: self.is_long || other.is_long }
    }

    /// Claims that rounding may decide what is a multiple of what.
    pub(crate) fn may_round(self) -> bool {
        self.divides && self.is_long
    }
}

fn has_long(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_long(number),
        Value::Array(items) => items.iter().any(has_long),
        Value::Object(members) => members.values().any(has_long),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn is_long(number: &Number) -> bool {
    let text = number.to_string();
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.chars().filter(char::is_ascii_digit);
    let digits = digits.skip_while(|digit| *digit == '0').count();
    digits > DIGITS || number.as_f64().is_none_or(|float| float.abs() >= LARGE)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("3" => false)]
    #[test_case("-0.000000000000000000001" => false; "a small number with few digits")]
    #[test_case("1234567890.12345" => false)]
    #[test_case("9007199254740993" => true)]
    #[test_case("-9223372036854775808" => true)]
    #[test_case("0.1234567890123456" => true)]
    #[test_case("1e308" => true)]
    fn numbers_that_a_float_may_not_hold_are_long(text: &str) -> bool {
        is_long(&text.parse().unwrap())
    }
}
