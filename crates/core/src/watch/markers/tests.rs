//! Which lines are markers, and which only look like it.

use proptest::collection::vec;
use proptest::prelude::*;
use test_case::test_case;

use super::*;
use crate::watch::cooldown::ClaimedResult;
use crate::watch::level::{LevelEdit, LevelReason};
use crate::watch::memory::MemoryKey;

fn read(text: &str) -> Markers {
    Markers::read([text])
}

fn refused(text: &str) -> Vec<(u64, Refused)> {
    let found = read(text);
    assert_eq!((found.events, found.memories, found.cooldowns), Default::default(), "{text}");
    found.refused.into_iter().map(|it| (it.line, it.reason)).collect()
}

fn event(level: Level, service: Option<&str>, message: &str) -> Event {
    Event::of_session(level, service, message)
}

/// CO-42: with a service or without, one on a line, trimmed.
#[test_case("[EVENT:info] all fine", Level::Info, None, "all fine")]
#[test_case("[EVENT:warning:jellyfin] slow", Level::Warning, Some("jellyfin"), "slow")]
#[test_case("  \t[EVENT:critical:my-app_2]   down  ", Level::Critical, Some("my-app_2"), "down"; "white space")]
#[test_case("[EVENT:info]all fine", Level::Info, None, "all fine"; "no space")]
#[test_case("[EVENT: info : caddy ] up", Level::Info, Some("caddy"), "up"; "space within")]
#[test_case("[EVENT:info] `x` [y] (z) 日本 ✓", Level::Info, None, "`x` [y] (z) 日本 ✓"; "any message")]
#[test_case("[EVENT:info] a: b]", Level::Info, None, "a: b]"; "a bracket later")]
fn co_42_an_event_is_a_line(text: &str, level: Level, service: Option<&str>, message: &str) {
    let expected = Markers { events: vec![event(level, service, message)], ..Markers::default() };
    assert_eq!(read(text), expected);
}

/// CO-41: the slip of the seed, which was dropped in silence, is an event, and the slip is on record.
#[test]
fn co_41_a_misspelt_level_is_normalised_and_recorded() {
    let edit =
        LevelEdit { said: "warnig".to_owned(), became: Level::Warning, by: LevelReason::Slip };
    let expected =
        Event { edit: Some(edit), ..event(Level::Warning, Some("jellyfin"), "slow answers") };
    assert_eq!(read("[EVENT:warnig:jellyfin] slow answers").events, [expected]);
}

/// CO-51: in markers the category comes first.
#[test]
fn co_51_a_memory_has_its_category_first() {
    let claim = |key: &str, observation: &str| MemoryClaim {
        key: MemoryKey::parse(key).unwrap(),
        observation: observation.to_owned(),
    };
    let found = read("[MEMORY:timing] a\n[MEMORY:Behavior:caddy] b");
    assert_eq!(found.memories, [claim("timing", "a"), claim("caddy:behavior", "b")]);
}

/// CO-94: any dash with any space.
#[test_case("[COOLDOWN:restart:jellyfin] success — it is up")]
#[test_case("[COOLDOWN:restart:jellyfin] success–it is up"; "en dash")]
#[test_case("[COOLDOWN:restart:jellyfin]success -it is up"; "hyphen")]
#[test_case("[COOLDOWN:restart:jellyfin] success  --  it is up"; "two hyphens")]
fn co_94_a_cooldown_says_what_was_done(text: &str) {
    let claim = CooldownClaim {
        action: CooldownAction::Restart,
        service: "jellyfin".to_owned(),
        result: ClaimedResult::Success,
        message: "it is up".to_owned(),
    };
    assert_eq!(read(text).cooldowns, [claim]);
}

/// CO-94: everything is mandatory, and actions are in small letters.
#[test_case("[COOLDOWN:restart] success — x", Refused::Parts; "no service")]
#[test_case("[COOLDOWN:restart:] success — x", Refused::Service; "an empty service")]
#[test_case("[COOLDOWN:restart:a] success", Refused::Result; "no dash")]
#[test_case("[COOLDOWN:restart:a] success —", Refused::Result; "no words")]
#[test_case("[COOLDOWN:restart:a] — x", Refused::Result; "no result")]
#[test_case("[COOLDOWN:restart:a] maybe — x", Refused::Result; "another result")]
#[test_case("[COOLDOWN:Restart:a] success — x", Refused::Action; "a capital")]
#[test_case("[COOLDOWN:stop:a] success — x", Refused::Action; "another action")]
fn co_94_a_cooldown_that_lacks_something_is_none(text: &str, reason: Refused) {
    assert_eq!(refused(text), [(1, reason)]);
}

/// CO-94: a name that nobody can keep is told, and costs nothing else.
#[test_case("[EVENT:info:{}] x"; "an event")]
#[test_case("[MEMORY:timing:{}] x"; "a memory")]
#[test_case("[COOLDOWN:restart:{}] success - x"; "a cooldown")]
fn co_94_a_service_with_a_very_long_name_is_told(marker: &str) {
    let named = |bytes: usize| marker.replace("{}", &"a".repeat(bytes));
    assert_eq!(refused(&named(256)), [(1, Refused::LongService)]);
    assert!(Refused::LongService.is_slip());
    assert_eq!(read(&named(255)).refused, []);
}

/// CO-42: what a reader of Markdown sees as quoted or shown is no event, but may have been meant as one.
#[test_case("> quoted\n[EVENT:info] x", &[(2, Refused::Continued)]; "right below a quotation")]
#[test_case("> quoted\nand more\n[EVENT:info] x", &[(3, Refused::Continued)]; "two lines below")]
#[test_case("<pre>\n[EVENT:info] x\n</pre>", &[(2, Refused::Preformatted)]; "preformatted")]
#[test_case("<PRE class=\"x\"><code>\n\n[EVENT:info] x", &[(3, Refused::Preformatted)]; "preformatted and not closed")]
fn co_42_what_markdown_shows_is_a_slip(text: &str, reasons: &[(u64, Refused)]) {
    assert_eq!(refused(text), reasons);
    assert!(reasons.iter().all(|(_, reason)| reason.is_slip()));
}

/// CO-42: an empty line, a list and a heading end a quotation.
#[test_case("> quoted\n\n[EVENT:info] x"; "an empty line")]
#[test_case("> quoted\n# Found\n[EVENT:info] x"; "a heading")]
#[test_case("<pre>shown</pre>\n[EVENT:info] x"; "closed in its line")]
#[test_case("<pre>\nshown\n</pre>\n[EVENT:info] x"; "closed later")]
fn co_42_what_is_said_after_a_quotation_is_said(text: &str) {
    assert_eq!(read(text).events, [event(Level::Info, None, "x")]);
}

/// CO-42: what looks like a marker and is none is told, with the reason.
#[test_case("[EVENT:info]", Refused::Message; "no message")]
#[test_case("[EVENT:info:a]   ", Refused::Message; "no message but space")]
#[test_case("[EVENT:warning:jellyfin down", Refused::Bracket; "not closed")]
#[test_case("(EVENT:info) x", Refused::Bracket; "another bracket")]
#[test_case("[EVENT:info:media.server] x", Refused::Service; "a dot in the service")]
#[test_case("[EVENT:info:a b] x", Refused::Service; "a space in the service")]
#[test_case("[EVENT:info:a:b] x", Refused::Parts; "too many parts")]
#[test_case("[EVENT:] x", Refused::Parts; "no level")]
#[test_case("[EVENT] x", Refused::Parts; "no parts")]
#[test_case("[EVENT info] x", Refused::Parts; "no colon")]
#[test_case("[event:info] x", Refused::Word; "small letters")]
#[test_case("[EVNT:info] x", Refused::Word; "misspelt")]
#[test_case("[EVENTS:info] x", Refused::Word; "plural")]
#[test_case("[MEMORY:trivia] x", Refused::Category; "an unknown category")]
#[test_case("- [EVENT:info] x", Refused::Amid; "in a list")]
#[test_case("**[EVENT:info]** x", Refused::Amid; "bold")]
#[test_case("I saw [EVENT:info] x", Refused::Amid; "in a sentence")]
fn co_42_a_slip_is_told_and_never_dropped(text: &str, reason: Refused) {
    assert_eq!(refused(text), [(1, reason)]);
    assert!(read(text).refused[0].event().unwrap().message.ends_with(text.trim()));
}

/// What is shown is not said: code, quotations, explanations of the format.
#[test_case("```\n[EVENT:info] x\n```", Refused::Fenced; "a fence")]
#[test_case("~~~text\n[EVENT:info] x\n~~~", Refused::Fenced; "tildes")]
#[test_case("   ```\n[EVENT:info] x", Refused::Fenced; "indented by three, and never closed")]
#[test_case("1. like this:\n   ```\n   [EVENT:info] x\n   ```", Refused::Fenced; "in a list")]
#[test_case("- ```\n  [EVENT:info] x\n  ```", Refused::Fenced; "as a list")]
#[test_case("````\n```\n[EVENT:info] x\n````", Refused::Fenced; "a shorter fence inside")]
#[test_case("```\n~~~\n[EVENT:info] x\n```", Refused::Fenced; "another fence inside")]
#[test_case("``` a\n``` b\n[EVENT:info] x\n```", Refused::Fenced; "a line that closes nothing")]
#[test_case("> said earlier\n> [EVENT:info] x", Refused::Quoted; "a quotation")]
#[test_case("  >[EVENT:info] x", Refused::Quoted; "a quotation, indented")]
#[test_case("- > [EVENT:info] x", Refused::Quoted; "a quotation in a list")]
#[test_case("`[EVENT:info] x`", Refused::Span; "a code span")]
#[test_case("say ``[EVENT:info] `x` `` then", Refused::Span; "a longer code span")]
#[test_case("[EVENT:level] message", Refused::Placeholder; "names of slots")]
#[test_case("[EVENT:level:service] message", Refused::Placeholder; "names of three slots")]
#[test_case("[EVENT:level[:service]] message", Refused::Placeholder; "the format of the docs")]
#[test_case("[EVENT:<level>] <what happened>", Refused::Placeholder; "angle brackets")]
#[test_case("[EVENT:info|warning|critical] what happened", Refused::Placeholder; "a choice")]
#[test_case("[EVENT:info | warning:a] x", Refused::Placeholder; "a choice with space")]
#[test_case("[EVENT:info] ...", Refused::Placeholder; "dots")]
#[test_case("[MEMORY:category:service] observation", Refused::Placeholder; "of a memory")]
#[test_case("[COOLDOWN:restart|redeployment:service] success|failure — message", Refused::Placeholder; "of a cooldown")]
fn what_is_shown_is_no_marker(text: &str, reason: Refused) {
    let reasons: Vec<Refused> = refused(text).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(reasons, [reason]);
    assert_eq!(read(text).refused[0].event(), None);
}

/// What only resembles code hides nothing.
#[test_case("```x\n```\n[EVENT:info] x"; "behind a fence")]
#[test_case("    ```\n[EVENT:info] x"; "a fence indented by four is text")]
#[test_case("```a``` and\n[EVENT:info] x"; "a code span of three")]
#[test_case("a stray ` here\n[EVENT:info] x\nand ` there"; "stray backticks")]
#[test_case("> quoted\n\n[EVENT:info] x"; "behind a quotation")]
#[test_case("- item\n\ntext\n[EVENT:info] x"; "behind a list")]
#[test_case("``\n[EVENT:info] x"; "two backticks")]
fn what_is_said_is_a_marker(text: &str) {
    assert_eq!(read(text).events, [event(Level::Info, None, "x")]);
}

#[test]
fn three_kinds_in_one_text_are_told_apart() {
    let text =
        "All done.\r\n[EVENT:info] a\r\n[MEMORY:timing] b\n[COOLDOWN:redeployment:c] failure - d\n";
    let found = read(text);
    assert_eq!(found.events, [event(Level::Info, None, "a")]);
    assert_eq!((found.memories.len(), found.cooldowns.len(), found.refused.len()), (1, 1, 0));
    assert_eq!(found.cooldowns[0].result, ClaimedResult::Failure);
}

#[test]
fn the_second_marker_of_a_line_is_told() {
    let found = read("[EVENT:info] a [EVENT:critical] b");
    assert_eq!(found.events, [event(Level::Info, None, "a [EVENT:critical] b")]);
    assert_eq!(found.refused[0].reason, Refused::Second);
}

#[test]
fn a_fence_ends_with_its_block() {
    let found = Markers::read(["```\n[EVENT:info] shown", "[EVENT:info] said"]);
    assert_eq!(found.events, [event(Level::Info, None, "said")]);
    let text = "[EVENT:info] shown".to_owned();
    let shown = RefusedLine { block: 1, line: 2, reason: Refused::Fenced, text };
    assert_eq!(found.refused, [shown]);
}

#[test]
fn what_is_told_of_slips_is_bounded() {
    let found = read(&"[EVENT:info]\n".repeat(REFUSED_LINES_LIMIT + 7));
    assert_eq!((found.refused.len(), found.refused_more), (REFUSED_LINES_LIMIT, 7));
    let long = format!("[EVENT:info:{}] x", "é.".repeat(400));
    assert_eq!(read(&long).refused[0].text.chars().count(), TOLD_CHARS + 1);
}

#[test]
fn a_line_that_is_too_long_is_told() {
    let exact = format!("[EVENT:info] {}", "x".repeat(MARKER_LINE_LIMIT_BYTES - 13));
    assert_eq!(read(&exact).events.len(), 1);
    assert_eq!(refused(&format!("{exact}x")), [(1, Refused::TooLong)]);
    let ticks: Vec<String> = (1..2_000).map(|length| "`".repeat(length)).collect();
    assert_eq!(refused(&format!("{} [EVENT:info] x", ticks.join(" "))), [(1, Refused::TooLong)]);
}

#[test]
fn more_text_than_is_read_is_told_once() {
    let mut reader = MarkerReader::default();
    let piece = format!("[EVENT:info] x\n{}", "é\n".repeat(1024 * 1024));
    (0..7).for_each(|_| reader.push(&piece));
    let found = reader.finish();
    assert_eq!(found.events.len(), 6);
    let reasons: Vec<Refused> = found.refused.iter().map(|it| it.reason).collect();
    assert_eq!(reasons, [Refused::TooMuch]);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\[EVENT:(info|warnig|level)(:[a-z.]{0,3})?\\]? ?[a-z`é]{0,4}",
        Just("[MEMORY:timing] x".to_owned()),
        Just("[COOLDOWN:restart:a] success — x".to_owned()),
        " {0,4}[`~]{2,4}[a-z]{0,2}",
        "[>`\\[\\]a-z:|é -]{0,12}",
    ]
}

proptest! {
    /// However the pieces of a block arrive, the same is found.
    #[test]
    fn markers_survive_any_chunking(
        blocks in vec(vec(line(), 0..8), 0..4),
        sizes in vec(1_usize..9, 1..6),
    ) {
        let blocks: Vec<String> = blocks.into_iter().map(|lines| lines.join("\n")).collect();
        let mut reader = MarkerReader::default();
        for block in &blocks {
            let mut sizes = sizes.iter().cycle();
            let mut rest = block.as_str();
            while !rest.is_empty() {
                let end = rest.char_indices().nth(*sizes.next().unwrap()).map_or(rest.len(), |it| it.0);
                reader.push(&rest[..end]);
                rest = &rest[end..];
            }
            reader.end_block();
        }
        prop_assert_eq!(reader.finish(), Markers::read(blocks.iter().map(String::as_str)));
    }

    /// Nothing that holds the word of a marker at the beginning of a line is lost without a word.
    #[test]
    fn every_line_that_begins_like_a_marker_is_found_or_told(rest in "\\PC{0,30}") {
        let text = format!("[EVENT:{rest}");
        let found = read(&text);
        prop_assert!(found.events.len() + found.refused.len() > 0);
    }

    #[test]
    fn any_text_is_read(text in "\\PC*[\n\\[\\]`~>:EVNTMORYCDLW|é—-]{0,60}") {
        let found = read(&text);
        prop_assert!(found.refused.len() <= text.lines().count() * 2);
    }
}
