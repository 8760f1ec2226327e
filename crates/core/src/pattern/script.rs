//! Patterns as JavaScript reads them with the flag `u`.
//!
//! That flag forgives nothing: no needless backslash, no lone brace. When in doubt the answer is no.

use std::str::Chars;

/// The general categories of characters, by their names there.
const CATEGORIES: &[&str] = &[
    "L", "Lu", "Ll", "Lt", "LC", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P",
    "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp",
    "C", "Cc", "Cf", "Cs", "Co", "Cn",
];

/// Escapes of a set of characters, which cannot be an end of a range.
const SETS: [char; 8] = ['d', 'D', 's', 'S', 'w', 'W', 'p', 'P'];

/// Claims that JavaScript reads `pattern`, which our own engine has read, as it stands.
pub(crate) fn is_read_by_script(pattern: &str) -> bool {
    reads(pattern.chars()).is_some()
}

fn reads(mut rest: Chars<'_>) -> Option<()> {
    // Whether something stands before that can be repeated.
    let mut is_atom = false;
    while let Some(character) = rest.next() {
        match character {
            '\\' => rest = escape(rest, "^$\\.*+?()[]{}|/")?,
            '[' => rest = class(rest.as_str())?,
            '(' => {
                if let Some(kind) = rest.as_str().strip_prefix('?') {
                    rest = kind.strip_prefix(':')?.chars();
                }
            }
            '*' | '+' | '?' if is_atom => rest = lazily(rest.as_str()),
            '{' if is_atom => rest = lazily(range(rest.as_str())?),
            // A dot is another set of characters there, by the ends of lines.
            '*' | '+' | '?' | '{' | '.' | '}' | ']' => return None,
            _ => {}
        }
        is_atom = !matches!(character, '(' | '*' | '+' | '?' | '{' | '^' | '$' | '|');
    }
    Some(())
}

/// Returns what is behind a repetition that may be lazy.
fn lazily(rest: &str) -> Chars<'_> {
    rest.strip_prefix('?').unwrap_or(rest).chars()
}

/// Returns what is behind an escape that is one character or a set of them, `marks` escaped included.
fn escape<'p>(mut rest: Chars<'p>, marks: &str) -> Option<Chars<'p>> {
    let kind = rest.next()?;
    let behind = rest.as_str();
    let digits = |count: usize| {
        let (digits, left) = behind.split_at_checked(count)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| left.chars())
    };
    match kind {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'f' | 'n' | 'r' | 't' | 'v' => Some(rest),
        '0' if !behind.starts_with(|next: char| next.is_ascii_digit()) => Some(rest),
        'c' => rest.next().filter(char::is_ascii_alphabetic).map(|_| rest),
        'x' => digits(2),
        'u' => digits(4),
        'p' | 'P' => {
            let (name, left) = behind.strip_prefix('{')?.split_once('}')?;
            CATEGORIES.contains(&name).then(|| left.chars())
        }
        mark => marks.contains(mark).then_some(rest),
    }
}

/// Returns what is behind the numbers of a repetition and its brace.
fn range(text: &str) -> Option<&str> {
    let (numbers, left) = text.split_once('}')?;
    let (least, most) = numbers.split_once(',').unwrap_or((numbers, ""));
    let are_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    (!least.is_empty() && are_digits(least) && are_digits(most)).then_some(left)
}

/// Returns what is behind the members of a class and its bracket. A hyphen beside a set (`[\d-x]`) is none
/// of JavaScript's.
fn class(text: &str) -> Option<Chars<'_>> {
    let mut rest = text.strip_prefix('^').unwrap_or(text).chars();
    // Whether a set of characters, or a hyphen behind anything, was read last.
    let (mut is_set, mut is_hyphen) = (false, false);
    loop {
        let character = rest.next()?;
        let was_set = is_set;
        is_set = character == '\\' && rest.as_str().starts_with(SETS);
        match character {
            ']' => return Some(rest),
            '\\' if rest.as_str().starts_with('b') => rest = rest.as_str().get(1..)?.chars(),
            '\\' => rest = escape(rest, "^$\\.*+?()[]{}|/-")?,
            _ => {}
        }
        let has_hyphen = character == '-' && !rest.as_str().starts_with(']');
        if (is_set && is_hyphen) || (was_set && has_hyphen) {
            return None;
        }
        is_hyphen = has_hyphen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("^[a-z0-9-]+$" => true)]
    #[test_case(r"^\d{4}-\d{2}-\d{2}$" => true; "a date")]
    #[test_case(r"^(?:a|b\.c){1,3}?\/[^\]\-\d]*$" => true; "much of it")]
    #[test_case(r"\p{Lu}[\p{L}\u00e9\x41\cA\0]" => true; "characters by number and category")]
    #[test_case("[-a][a-][+-]" => true; "hyphens at the ends")]
    #[test_case("a.b" => false; "any character but the ends of lines")]
    #[test_case(r"a\b" => false; "the border of a word")]
    #[test_case(r"a\-b" => false; "a hyphen that needs no backslash")]
    #[test_case(r"\A" => false; "an anchor of others")]
    #[test_case(r"[\d-x]" => false; "a set begins no range")]
    #[test_case(r"[+-\d]" => false; "a set ends no range")]
    #[test_case("a{,3}" => false; "no least number")]
    #[test_case("a}" => false; "a lone brace")]
    #[test_case("a]" => false; "a lone bracket")]
    #[test_case("^*a" => false; "an anchor that repeats")]
    #[test_case("a**" => false; "a repetition that repeats")]
    #[test_case(r"\p{Greek}" => false; "a script without its key")]
    #[test_case(r"(?i:a)" => false; "flags")]
    #[test_case(r"\07" => false; "octal")]
    #[test_case(r"\_" => false; "a letter that needs no backslash")]
    fn javascript_is_asked_only_what_it_reads(pattern: &str) -> bool {
        is_read_by_script(pattern)
    }
}
