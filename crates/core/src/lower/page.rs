//! The page about the dialects, written from the tables.

use std::fmt::Write as _;

use super::Dialect;
use super::dialect::{
    Bounds, EnumMembers, Extras, Formats, Leaves, Limits, Optionals, Patterns, Recursion, Root,
    Table,
};
use crate::page::compare;

const HEAD: &str = "\
# Dialects

What each provider accepts of JSON Schema, as documented or observed on a date. Lowering adapts a
contract to these tables and lists what is lost; the local verdict by the original contract catches
what is wrong here. Written from the tables by the test `the_page_of_dialects_is_up_to_date`; run
`make bless` to write it anew.
";

fn words(keywords: &[&str]) -> String {
    keywords.iter().map(|keyword| format!("`{keyword}`")).collect::<Vec<_>>().join(", ")
}

fn limits(limits: &Limits) -> String {
    let named = [
        ("properties", limits.properties),
        ("levels", limits.depth),
        ("enum values", limits.enum_values),
        ("characters in a long enum", limits.enum_chars),
        ("characters of names and values", limits.name_chars),
        ("optional members", limits.optionals),
        ("unions", limits.unions),
    ];
    let finite = named.into_iter().filter(|(_, limit)| *limit != usize::MAX);
    let listed: Vec<String> = finite.map(|(name, limit)| format!("{limit} {name}")).collect();
    if listed.is_empty() { "none known".to_owned() } else { listed.join(", ") }
}

fn patterns(table: &Table) -> String {
    let (word_boundaries, repeat) = match table.patterns {
        Patterns::AsWritten { word_boundaries, repeat } => (word_boundaries, repeat),
        Patterns::Automata => {
            return "without look-around, but with `^` and `$` at the ends".to_owned();
        }
        Patterns::Grammar => {
            return "between `^` and `$`, of characters that JSON does not escape".to_owned();
        }
        Patterns::Script => return "without look-around, in words of JavaScript".to_owned(),
    };
    let mut facts = vec!["without look-around".to_owned()];
    facts.extend((!word_boundaries).then(|| r"without `\b`".to_owned()));
    facts.extend((repeat != usize::MAX).then(|| format!("repeats up to {repeat}")));
    facts.join(", ")
}

fn formats(table: &Table) -> String {
    match table.formats {
        Formats::Listed(formats) if table.leaves == Leaves::Grammar => {
            format!("{}; dates without a calendar, so they are losses as well", words(formats))
        }
        Formats::Listed(formats) => words(formats),
        Formats::Annotation => "an annotation".to_owned(),
    }
}

fn bounds(table: &Table) -> &'static str {
    match (table.leaves, table.bounds) {
        (Leaves::Automata, _) => "below 2^53, with up to 20 decimals",
        (Leaves::Grammar, _) => {
            "of integers alone; without its counterpart a greatest one from 0, and a least one below 10 or of \
             up to 15 digits of which the inner ones are above 1"
        }
        (Leaves::AsWritten, Bounds::Numbers) => "any",
        (Leaves::AsWritten, Bounds::Integers) => "of integers alone",
    }
}

fn rows(table: &Table) -> [(&'static str, String); 11] {
    let say = |text: &str| text.to_owned();
    [
        (
            "root",
            say(match table.root {
                Root::Any => "anything",
                Root::Object => "an object; other roots are wrapped as `{\"value\": …}`",
            }),
        ),
        (
            "optional members",
            say(match table.optionals {
                Optionals::Omitted => "left out of `required`",
                Optionals::Nullable => "required, with `null` for absence",
            }),
        ),
        (
            "undeclared members",
            say(match table.extras {
                Extras::AsWritten => "as written",
                Extras::Explicit => {
                    "allowed if said explicitly, but for names that begin a declared one, and only beside \
                     declared names that leave its grammar whole"
                }
                Extras::Forbidden => "forbidden",
            }),
        ),
        (
            "recursion",
            say(match table.recursion {
                Recursion::Allowed => "allowed",
                Recursion::Cut => "not allowed",
            }),
        ),
        (
            "`enum`",
            say(match table.enum_members {
                EnumMembers::Any => "any values",
                EnumMembers::Scalars => "scalars",
                EnumMembers::StringsAndNumbers => "strings and numbers",
            }),
        ),
        ("`format`", formats(table)),
        ("`pattern`", patterns(table)),
        ("bounds of numbers", say(bounds(table))),
        ("enforced", words(table.keywords)),
        ("kept as annotations", words(table.annotations)),
        ("limits", limits(&table.limits)),
    ]
}

#[test]
fn the_page_of_dialects_is_up_to_date() {
    let mut page = HEAD.to_owned();
    for dialect in Dialect::ALL {
        let table = dialect.table();
        write!(page, "\n## {}\n\nAs of {}; {}.\n\n", dialect.name(), table.as_of, table.source)
            .unwrap();
        page.push_str("| | |\n|---|---|\n");
        for (name, text) in rows(table) {
            writeln!(page, "| {name} | {text} |").unwrap();
        }
    }
    compare("docs/wire/dialects.md", &page);
}
