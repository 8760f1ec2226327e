//! Many at once.

use std::io::{Read as _, Write as _};

use airtight_fake::Turn;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::stage::{Backstage, GOOD, TOKEN, block_on, chat};

/// How many requests are under way at once.
const CROWD: usize = 1000;

/// The soft limit on open files that most systems start a program with: too few for this crowd, which
/// needs a connection to the client and one to the provider each.
const USUAL_FILES: &str = "1024";

/// The scripted model and all clients are in this process.
fn make_room() {
    let now = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: now.maximum, ..now }).unwrap();
}

#[test]
fn a_thousand_requests_under_way_at_once_are_all_answered() {
    make_room();
    let held = Turn::text(GOOD).chunk_chars(4).gate(1, "held").forever();
    let arguments = ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"];
    let backstage = Backstage::new([held]);
    let command = backstage.with_few_files(&arguments, USUAL_FILES);
    let stage = backstage.start(command);
    let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
    let body = chat("airtight").to_string();
    let text = stage.posting("/v1/chat/completions", &headers, &body);
    let asking = |_| {
        let mut stream = stage.connect();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let streams: Vec<_> = (0..CROWD).map(asking).collect();
    // Nobody was answered, and everybody is being served.
    block_on(stage.fake.gate("held").reached_by(CROWD));
    stage.fake.gate("held").open();
    let content = serde_json::to_string(GOOD).unwrap();
    for mut stream in streams {
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.contains(&content), "{said}");
    }
    assert_eq!(stage.fake.requests().len(), CROWD);
}
