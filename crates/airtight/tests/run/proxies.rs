//! The proxies of the environment.

use crate::loopback;
use crate::stage::{Said, Stage, good};

const RUN: [&str; 4] = ["run", "--json-schema", "review.json", "Review"];

/// Returns an address of the scripted model that is not one of loopback's, which no proxy is asked
/// for, and that reaches it all the same.
fn base_url(stage: &Stage) -> String {
    format!("http://0.0.0.0:{}", stage.fake.address().port())
}

#[test]
fn a_proxy_is_used_for_other_machines() {
    let stage = Stage::new([good()]);
    let (proxy, seen) = loopback::proxy(stage.fake.address());
    let url = base_url(&stage);
    let mut command = stage.command(&RUN);
    command.env("ANTHROPIC_BASE_URL", &url).env("HTTP_PROXY", format!("http://{proxy}"));
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    let lines: Vec<String> = seen.try_iter().collect();
    assert_eq!(lines, [format!("POST {url}/v1/messages HTTP/1.1")]);
}

#[test]
fn what_no_proxy_names_is_reached_without_one() {
    let stage = Stage::new([good()]);
    let (proxy, seen) = loopback::proxy(stage.fake.address());
    let mut command = stage.command(&RUN);
    command.env("ANTHROPIC_BASE_URL", base_url(&stage));
    command.env("HTTP_PROXY", format!("http://{proxy}")).env("NO_PROXY", "example.org,0.0.0.0");
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
    assert_eq!(seen.try_iter().count(), 0);
}

#[test]
fn this_machine_is_reached_without_a_proxy() {
    let stage = Stage::new([good()]);
    let (proxy, seen) = loopback::closed_proxy();
    let said: Said =
        stage.command(&RUN).env("HTTP_PROXY", format!("http://{proxy}")).output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(seen.try_iter().count(), 0);
}

#[test]
fn encrypted_requests_go_through_a_tunnel() {
    let stage = Stage::new([good()]);
    let (proxy, seen) = loopback::closed_proxy();
    let mut command = stage.command(&RUN);
    command.env("ANTHROPIC_BASE_URL", "https://model.invalid");
    command.env("HTTPS_PROXY", format!("http://{proxy}")).env("AIRTIGHT_RETRY_ATTEMPTS", "0");
    let said: Said = command.output().unwrap().into();
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("no connection to model.invalid:443: "), "{said:?}");
    let lines: Vec<String> = seen.try_iter().collect();
    assert_eq!(lines, ["CONNECT model.invalid:443 HTTP/1.1"]);
}
