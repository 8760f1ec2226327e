//! What providers say when they fail, and what to do about it.

use airtight_fake::Turn;

use crate::loopback;
use crate::stage::{Said, Stage, good};

fn says(stage: &Stage, arguments: &[&str], lines: [&str; 2]) -> Said {
    let said = stage.stream(&[arguments, &["Review"]].concat());
    let told: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(told, lines, "{said:?}");
    let error = &said.result()["error"];
    assert_eq!(format!("error: {}", error["message"].as_str().unwrap()), lines[0]);
    assert_eq!(format!("hint: {}", error["hints"][0].as_str().unwrap()), lines[1]);
    said
}

#[test]
fn each_status_has_its_provider_and_its_advice() {
    let key = "hint: set another key in `ANTHROPIC_API_KEY`, or see that its account may use \
               `anthropic:fake`";
    let cases = [
        (
            Turn::status(404).message("model: fake"),
            3,
            "error: anthropic answered 404 (not_found_error): model: fake",
            "hint: check `--model` and `--base-url`",
        ),
        (
            Turn::status(413),
            3,
            "error: anthropic answered 413 (request_too_large): Request too large",
            "hint: send less: a smaller prompt, smaller files",
        ),
        (
            Turn::status(429).header("retry-after", "3600"),
            3,
            "error: anthropic answered 429 (rate_limit_error): Rate limit reached",
            "hint: the rate limit is reached; the provider asks for a pause of 3600 s",
        ),
        (
            Turn::status(401),
            41,
            "error: anthropic answered 401 (authentication_error): Invalid API key",
            key,
        ),
        (
            Turn::status(403),
            41,
            "error: anthropic answered 403 (permission_error): Permission denied",
            key,
        ),
        (
            Turn::status(500).forever(),
            3,
            "error: anthropic answered 500 (api_error): Internal server error",
            "hint: try again later",
        ),
    ];
    for (turn, code, error, hint) in cases {
        assert_eq!(says(&Stage::new([turn]), &[], [error, hint]).code, code);
    }
}

#[test]
fn a_refused_request_is_told_in_the_words_of_the_provider() {
    let said = Stage::new([Turn::status(400).message("max_tokens: too many")]).run(&["Review"]);
    let expected = "error: anthropic answered 400 (invalid_request_error): max_tokens: too many\n";
    assert_eq!((said.code, said.stderr.as_str()), (3, expected));
}

#[test]
fn the_key_that_was_refused_is_named_by_its_variable() {
    let refused = || Stage::new([Turn::status(401)]);
    let run = ["run", "--json-schema", "review.json", "Review"];
    let said: Said =
        refused().command(&run).env("AIRTIGHT_API_KEY", "any-key").output().unwrap().into();
    assert!(said.stderr.contains("another key in `AIRTIGHT_API_KEY`"), "{said:?}");
    let stage = refused()
        .with("config/airtight/airtight.toml", "[providers.anthropic]\napi_key_env = \"MY_KEY\"");
    let said: Said = stage.command(&run).env("MY_KEY", "my-own-key").output().unwrap().into();
    assert!(said.stderr.contains("another key in `MY_KEY`"), "{said:?}");
}

#[test]
fn nobody_at_the_address_is_told_with_the_address() {
    // The port was free a moment ago, and nobody else is told of it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error =
        format!("error: anthropic: no connection to {free}: Connection refused (os error 111)");
    let hint =
        "hint: check the address (`--base-url`), the network and `HTTPS_PROXY`, then try again";
    says(
        &Stage::new([good()]),
        &["--base-url", &format!("http://{free}/with/a-key")],
        [&error, hint],
    );
}

#[test]
fn a_server_that_speaks_no_tls_is_told_with_the_address() {
    let stage = Stage::new([good()]);
    let address = stage.fake.address();
    let said = stage.stream(&["--base-url", &format!("https://{address}"), "Review"]);
    let expected = format!("error: anthropic: no connection to {address}: ");
    assert!(said.stderr.starts_with(&expected), "{said:?}");
    assert_eq!((said.code, said.stderr.lines().count()), (3, 2), "{said:?}");
}

#[test]
fn a_name_that_nobody_has_is_told_with_the_name() {
    let stage = Stage::new([good()]);
    // Not a name at all, so that nobody outside is asked for it.
    let name = format!("{}.invalid", "x".repeat(64));
    let said = stage.stream(&["--base-url", &format!("http://{name}:1234"), "Review"]);
    let expected = format!("error: anthropic: no connection to {name}:1234: ");
    assert!(said.stderr.contains(&expected), "{said:?}");
    assert_eq!(said.code, 3);
}

#[test]
fn the_page_of_a_proxy_is_one_short_line() {
    let body = "<p>Nothing to see here.</p>\n".repeat(500);
    let page = format!("<html><head><title>502 Bad Gateway</title></head>{body}</html>");
    let address = loopback::server("502 Bad Gateway", "text/html", &page);
    let error = "error: anthropic answered 502: 502 Bad Gateway";
    let url = format!("http://{address}");
    says(&Stage::new([good()]), &["--base-url", &url], [error, "hint: try again later"]);
}
