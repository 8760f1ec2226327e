//! Patterns: a short text that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::LENGTH_LIMIT;

/// Returns the `variant`-th text that `pattern` matches, with at least `least` characters if the
/// pattern's repetitions allow; nothing if it needs look-around or back-references.
pub(super) fn sample(pattern: &str, least: usize, variant: usize) -> Option<String> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    let hir = regex_syntax::parse(&translated).ok()?;
    let mut longest = String::new();
    // Doubling the repetitions finds the length in few walks.
    for repeat in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16_384] {
        let mut writer = Writer { out: String::new(), repeat, variant };
        writer.write(&hir)?;
        longest = writer.out;
        if longest.chars().count() >= least {
            return Some(trimmed(&hir, longest, least, variant));
        }
    }
    Some(longest)
}

/// Shrinks what doubling made too long, one repetition at a time.
fn trimmed(hir: &Hir, long: String, least: usize, variant: usize) -> String {
    let length = long.chars().count();
    if length <= least.max(16) {
        return long;
    }
    let low = u32::try_from(length / 4).unwrap_or(u32::MAX).min(512);
    for repeat in (low..).take(1024) {
        let mut writer = Writer { out: String::new(), repeat, variant };
        if writer.write(hir).is_none() {
            break;
        }
        if writer.out.chars().count() >= least {
            return if writer.out.len() < long.len() { writer.out } else { long };
        }
    }
    long
}

struct Writer {
    out: String,
    /// How often to repeat what may be repeated any number of times.
    repeat: u32,
    variant: usize,
}

impl Writer {
    fn write(&mut self, hir: &Hir) -> Option<()> {
        if self.out.len() > LENGTH_LIMIT {
            return None;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.out.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => self.out.push(self.character(class)?),
            HirKind::Repetition(repetition) => {
                let wished = self.repeat.max(repetition.min);
                let times = repetition.max.map_or(wished, |most| wished.min(most));
                for _ in 0..times {
                    self.write(&repetition.sub)?;
                }
            }
            HirKind::Capture(capture) => self.write(&capture.sub)?,
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part))?,
            HirKind::Alternation(branches) => {
                let chosen = self.variant.checked_rem(branches.len())?;
                self.write(branches.get(chosen)?)?;
            }
        }
        Some(())
    }

    /// Picks a letter if the class has one, then a digit, then anything that can be seen.
    fn character(&self, class: &Class) -> Option<char> {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => {
                class.ranges().iter().map(|range| (range.start(), range.end())).collect()
            }
            Class::Bytes(class) => class
                .ranges()
                .iter()
                .map(|range| (char::from(range.start()), char::from(range.end())))
                .collect(),
        };
        let holds =
            |character: &char| ranges.iter().any(|(low, high)| (low..=high).contains(&character));
        let liked = ('a'..='z').chain('A'..='Z').chain('1'..='9').chain(' '..='~');
        let fitting: Vec<char> = liked.filter(holds).collect();
        let position = (self.variant + self.out.len()).checked_rem(fitting.len().max(1))?;
        fitting.get(position).copied().or_else(|| ranges.first().map(|(low, _)| *low))
    }
}
