//! Patterns: a short text that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

/// How long a text for a pattern may be.
const TEXT_LIMIT: usize = 4096;

/// The most often that a repetition without an end is repeated.
const REPEAT_LIMIT: u32 = 4096;

/// Reads a pattern; nothing comes of it if it needs look-around or back-references.
pub(super) fn read(pattern: &str) -> Option<Hir> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    regex_syntax::parse(&translated).ok()
}

/// Returns the `variant`-th text that a pattern matches, with at least `least` characters if the
/// pattern's repetitions allow.
pub(super) fn sample(hir: &Hir, least: usize, variant: usize) -> Option<String> {
    let written = |repeat| {
        let mut writer = Writer { out: String::new(), repeat, variant };
        writer.write(hir).map(|()| writer.out)
    };
    // The length grows with the repetitions: double them until it is enough, then halve the gap.
    let mut enough = 1;
    let mut text = written(enough)?;
    while text.chars().count() < least && enough < REPEAT_LIMIT {
        enough *= 2;
        text = written(enough)?;
    }
    let mut short = enough / 2;
    while short + 1 < enough {
        let middle = u32::midpoint(short, enough);
        let shorter = written(middle)?;
        if shorter.chars().count() < least {
            short = middle;
        } else {
            enough = middle;
            text = shorter;
        }
    }
    Some(text)
}

struct Writer {
    out: String,
    /// How often to repeat what may be repeated any number of times.
    repeat: u32,
    variant: usize,
}

impl Writer {
    fn write(&mut self, hir: &Hir) -> Option<()> {
        if self.out.len() > TEXT_LIMIT {
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
        // They are in order, and all that is liked is ASCII: of `\p{L}` two in six hundred matter.
        let ranges: Vec<(char, char)> =
            ranges(class).take_while(|(low, _)| low.is_ascii()).collect();
        let holds =
            |character: &char| ranges.iter().any(|(low, high)| (low..=high).contains(&character));
        let liked = ('a'..='z').chain('A'..='Z').chain('1'..='9').chain(' '..='~');
        let fitting: Vec<char> = liked.filter(holds).collect();
        let position = (self.variant + self.out.len()).checked_rem(fitting.len().max(1))?;
        let first = || self::ranges(class).next().map(|(low, _)| low);
        fitting.get(position).copied().or_else(first)
    }
}

/// Returns the ranges of a class, in order.
fn ranges(class: &Class) -> Box<dyn Iterator<Item = (char, char)> + '_> {
    match class {
        Class::Unicode(class) => {
            Box::new(class.ranges().iter().map(|range| (range.start(), range.end())))
        }
        Class::Bytes(class) => Box::new(
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))),
        ),
    }
}
