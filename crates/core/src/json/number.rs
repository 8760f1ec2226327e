//! Numbers by their digits.
//!
//! JSON numbers have no size, machine numbers do. A [`Number`] keeps the text, answers in machine
//! terms where that is exact, and compares by value without ever rounding.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use jsonschema::json::JsonNumber;

/// A number literal of a document.
#[derive(Debug, Clone, Copy)]
pub struct Number<'d>(&'d str);

/// A literal's value: `0.DIGITS × 10^exponent`, digits without zeros at either end.
#[derive(PartialEq, Eq, Hash)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl<'d> Number<'d> {
    /// Takes a well-formed JSON number literal.
    pub(crate) fn new(literal: &'d str) -> Self {
        Self(literal)
    }

    /// Returns the literal as written.
    pub fn as_str(&self) -> &'d str {
        self.0
    }

    /// Claims that the value is whole, however it is written (`3`, `3.0`, `3e2`).
    pub fn is_integer(&self) -> bool {
        if !self.0.contains(['.', 'e', 'E']) {
            return true;
        }
        let decimal = self.decimal();
        let length = i64::try_from(decimal.digits.len()).unwrap_or(i64::MAX);
        length == 0 || decimal.exponent >= length
    }

    /// Returns the nearest machine float.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Compares two literals by value, exactly.
    pub fn compare(&self, other: &Number<'_>) -> Ordering {
        if let (Some(left), Some(right)) = (self.as_integer(), other.as_integer()) {
            return left.cmp(&right);
        }
        self.decimal().compare(&other.decimal())
    }

    /// Claims that this is the number that a schema holds.
    pub(crate) fn equals(&self, other: &serde_json::Number) -> bool {
        match (self.as_integer(), other.as_i64()) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => self.compare(&Number::new(&other.to_string())).is_eq(),
        }
    }

    /// Claims that this is a whole multiple of `divisor`, exactly.
    ///
    /// `divisor` comes from a schema, so it has at most 20 digits.
    pub(crate) fn is_multiple_of(&self, divisor: &Number<'_>) -> bool {
        let (ours, theirs) = (self.decimal(), divisor.decimal());
        let Some(modulus) = theirs.digits.iter().try_fold(0_u128, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u128::from(digit - b'0'))
        }) else {
            return false;
        };
        if ours.digits.is_empty() || modulus == 0 {
            return ours.digits.is_empty();
        }
        // As integers times a power of ten, neither ends in a zero; so a finer exponent of ours
        // leaves a remainder.
        let shift = ours.last_place().saturating_sub(theirs.last_place());
        let Ok(zeros) = usize::try_from(shift) else {
            return false;
        };
        let digits = ours.digits.iter().map(|digit| u128::from(digit - b'0'));
        let remainder = digits
            .chain(std::iter::repeat_n(0, zeros))
            .try_fold(0_u128, |rest, digit| Some((rest.checked_mul(10)? + digit) % modulus));
        remainder == Some(0)
    }

    /// Returns the value of a literal that is written as a 64-bit integer.
    #[inline]
    pub(crate) fn as_integer(&self) -> Option<i64> {
        let (digits, sign) = match self.0.as_bytes() {
            [b'-', digits @ ..] => (digits, -1),
            digits => (digits, 1),
        };
        // Up to 18 digits cannot overflow.
        if digits.len() > 18 {
            return self.0.parse().ok();
        }
        digits
            .iter()
            .try_fold(0_i64, |sum, byte| {
                byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
            })
            .map(|magnitude| sign * magnitude)
    }

    /// Returns the one text that all literals of this value have in common.
    pub(crate) fn canonical(&self) -> String {
        let Decimal { negative, digits, exponent } = self.decimal();
        if digits.is_empty() {
            return "0".to_owned();
        }
        let sign = if negative { "-" } else { "" };
        format!("{sign}0.{}e{exponent}", String::from_utf8_lossy(&digits))
    }

    fn decimal(&self) -> Decimal {
        let negative = self.0.starts_with('-');
        let unsigned = self.0.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        // An exponent beyond i64 cannot occur: such a literal is refused as out of range, or
        // saturates far below every other value.
        let shift = exponent.parse().unwrap_or(if exponent.starts_with('-') {
            i64::MIN / 2
        } else {
            i64::MAX / 2
        });
        let point = i64::try_from(whole.len()).unwrap_or(i64::MAX / 4)
            - i64::try_from(leading).unwrap_or_default();
        Decimal {
            negative: negative && !digits.is_empty(),
            digits,
            exponent: point.saturating_add(shift),
        }
    }
}

impl Decimal {
    /// Returns the power of ten of the last digit.
    fn last_place(&self) -> i64 {
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        self.exponent.saturating_sub(length)
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => {
                return if other.negative { Ordering::Greater } else { Ordering::Less };
            }
            (false, true) => {
                return if self.negative { Ordering::Less } else { Ordering::Greater };
            }
            (false, false) => {}
        }
        if self.negative != other.negative {
            return if self.negative { Ordering::Less } else { Ordering::Greater };
        }
        let magnitude =
            self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { magnitude.reverse() } else { magnitude }
    }
}

/// Hashes by value, as [`Number::compare`] compares.
impl Hash for Number<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let decimal = self.decimal();
        // Zero has one value, whatever its exponent.
        if !decimal.digits.is_empty() {
            decimal.hash(state);
        }
    }
}

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.as_integer()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(self.to_machine())
    }

    fn is_integer(&self) -> bool {
        Number::is_integer(self)
    }
}

impl Number<'_> {
    /// Returns the nearest `serde_json` number; exact for all 64-bit integers.
    pub(crate) fn to_machine(self) -> serde_json::Number {
        if let Ok(integer) = self.0.parse::<i64>() {
            return integer.into();
        }
        if let Ok(integer) = self.0.parse::<u64>() {
            return integer.into();
        }
        // The parser refuses literals that overflow to infinity.
        serde_json::Number::from_f64(self.to_f64()).unwrap_or_else(|| 0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("1", "1.0", Ordering::Equal)]
    #[test_case("10", "1e1", Ordering::Equal)]
    #[test_case("-0", "0.0", Ordering::Equal)]
    #[test_case("9007199254740993", "9007199254740992", Ordering::Greater; "beyond 2^53")]
    #[test_case("18446744073709551617", "18446744073709551616", Ordering::Greater; "beyond 2^64")]
    #[test_case("0.1", "0.10000000000000001", Ordering::Less)]
    #[test_case("-5", "-0.5", Ordering::Less)]
    #[test_case("12e-1", "1.2", Ordering::Equal)]
    #[test_case("-1", "1", Ordering::Less)]
    fn numbers_compare_by_exact_value(left: &str, right: &str, expected: Ordering) {
        assert_eq!(Number::new(left).compare(&Number::new(right)), expected);
        assert_eq!(Number::new(right).compare(&Number::new(left)), expected.reverse());
    }

    #[test_case("0.3", "0.1", true; "decimal, not binary")]
    #[test_case("0.30000000000000004", "0.1", false; "the sum of 0.1 and 0.2")]
    #[test_case("1e308", "0.123456789", false)]
    #[test_case("18446744073709551616", "3", false; "two to the 64th")]
    #[test_case("18446744073709551615", "3", true; "one less")]
    #[test_case("9007199254740993", "2", false; "beyond 2^53")]
    #[test_case("-7.5", "2.5", true)]
    #[test_case("0", "0.01", true)]
    #[test_case("1e-400", "1", false)]
    #[test_case("150", "1e2", false)]
    #[test_case("1500", "1e2", true)]
    #[test_case("0.0075", "0.0001", true)]
    #[test_case("0.00751", "0.0001", false)]
    fn multiples_are_exact(literal: &str, divisor: &str, expected: bool) {
        assert_eq!(Number::new(literal).is_multiple_of(&Number::new(divisor)), expected);
    }

    #[test_case("3", true)]
    #[test_case("3.0", true)]
    #[test_case("3.5", false)]
    #[test_case("35e-1", false)]
    #[test_case("350e-1", true)]
    #[test_case("0e-9", true)]
    #[test_case("1e-400", false)]
    fn wholeness_is_exact(literal: &str, expected: bool) {
        assert_eq!(Number::new(literal).is_integer(), expected);
    }
}
