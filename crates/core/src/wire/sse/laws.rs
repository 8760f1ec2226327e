//! Laws of the event stream.

use proptest::collection::vec;
use proptest::prelude::*;
use test_case::test_case;

use super::{Decoder, Event, SseError};

fn event(name: &str, data: &str) -> Event {
    Event { name: name.to_owned(), data: data.to_owned() }
}

fn read(bytes: &[u8], sizes: &[usize], limit: usize) -> (Vec<Result<Event, SseError>>, bool) {
    let mut decoder = Decoder::within(limit);
    let mut events = Vec::new();
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| (*size).clamp(1, rest.len()));
        let (piece, tail) = rest.split_at(size);
        events.extend(decoder.push(piece));
        rest = tail;
    }
    (events, decoder.is_mid_event())
}

fn whole(text: &str) -> Vec<Result<Event, SseError>> {
    read(text.as_bytes(), &[], 64).0
}

#[test_case("data: a\n\n", &[event("", "a")]; "line feeds")]
#[test_case("data: a\r\rdata: b\r\r", &[event("", "a"), event("", "b")]; "carriage returns")]
#[test_case("event: e\r\ndata: a\r\n\r\n", &[event("e", "a")]; "both")]
#[test_case("\u{FEFF}data: a\n\n", &[event("", "a")]; "a byte order mark")]
#[test_case("data: a\ndata:  b\ndata\n\n", &[event("", "a\n b\n")]; "many data lines")]
#[test_case(": hello\n\n:\ndata: a\n\n", &[event("", "a")]; "comments")]
#[test_case("id: 7\ndata: a\n\ndata: b\n\n", &[event("", "a"), event("", "b")]; "an id is not kept")]
#[test_case("event: e\n\ndata: a\n\n", &[event("", "a")]; "no data, no event")]
#[test_case("retry: 9\nnews: x\ndata: a\n\n", &[event("", "a")]; "other fields are ignored")]
#[test_case("data:\n\n", &[event("", "")]; "empty data is data")]
#[test_case("data: a\n", &[]; "without a blank line there is no event")]
fn streams_are_read_as_the_standard_says(text: &str, expected: &[Event]) {
    let events: Vec<Event> = whole(text).into_iter().map(Result::unwrap).collect();
    assert_eq!(events, expected);
}

#[test]
fn an_event_over_the_limit_is_one_error_and_the_end() {
    let mut decoder = Decoder::within(16);
    assert_eq!(decoder.push(b"data: 0123456789\n"), []);
    assert_eq!(decoder.push(b"data: 0123456789"), [Err(SseError::TooLarge { limit: 16 })]);
    assert_eq!(decoder.push(b"\n\ndata: a\n\n"), []);
    assert!(!decoder.is_mid_event());
}

#[test]
fn the_limit_is_for_each_event() {
    let text = "data: 0123456789\n\n".repeat(9);
    assert!(read(text.as_bytes(), &[], 16).0.iter().all(Result::is_ok));
}

#[test]
fn an_event_that_is_not_utf8_is_one_error_and_the_end() {
    let (events, _) = read(b"data: a\n\ndata: \xFF\n\ndata: b\n\n", &[], 64);
    assert_eq!(events, [Ok(event("", "a")), Err(SseError::NotUtf8)]);
}

#[test_case("", false; "nothing")]
#[test_case("data: a\n\n", false; "a whole event")]
#[test_case("data: a\n\nda", true; "a cut line")]
#[test_case("data: a\n", true; "a missing blank line")]
fn what_has_no_end_is_told(text: &str, expected: bool) {
    assert_eq!(read(text.as_bytes(), &[], 64).1, expected);
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("data: ".as_bytes().to_vec()),
        Just("event: ".as_bytes().to_vec()),
        Just("id: ".as_bytes().to_vec()),
        Just(": ".as_bytes().to_vec()),
        Just("\n".as_bytes().to_vec()),
        Just("\n\n".as_bytes().to_vec()),
        Just("\r".as_bytes().to_vec()),
        Just("\r\n\r\n".as_bytes().to_vec()),
        Just("\u{FEFF}".as_bytes().to_vec()),
        "\\PC{0,5}".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..3),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn how_a_stream_is_cut_does_not_matter(
        bytes in stream(),
        sizes in vec(1_usize..9, 1..9),
        limit in 0_usize..64,
    ) {
        prop_assert_eq!(read(&bytes, &sizes, limit), read(&bytes, &[], limit));
    }

    #[test]
    fn nothing_follows_an_error(bytes in stream()) {
        let (events, _) = read(&bytes, &[], 24);
        let first = events.iter().position(Result::is_err);
        prop_assert!(first.is_none_or(|first| first + 1 == events.len()));
    }
}
