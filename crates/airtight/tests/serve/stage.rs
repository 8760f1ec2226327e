//! A server of its own, and a scripted model behind it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use airtight_fake::{Fake, Script, Turn};
use airtight_store::{Ledger, Location, Run};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The token of the tests.
pub(crate) const TOKEN: &str = "token-of-the-test-0123456789";

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A contract that wants a score from 0 to 10.
pub(crate) fn review() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string" },
            "score": { "type": "integer", "minimum": 0, "maximum": 10 },
        },
        "required": ["summary", "score"],
        "additionalProperties": false,
    })
}

/// An answer that conforms.
pub(crate) const GOOD: &str = r#"{"summary":"fine","score":9}"#;

/// An answer that breaks the contract.
pub(crate) const BAD: &str = r#"{"summary":"fine","score":11}"#;

pub(crate) fn good() -> Turn {
    Turn::text(GOOD).usage(100, 20)
}

/// A launch directory, a server that was started in it, and its model.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) fake: Fake,
    pub(crate) server: Child,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: SocketAddr,
}

/// A launch directory and a model, before the server is started.
pub(crate) struct Backstage {
    folder: TempDir,
    fake: Fake,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Answer {
    /// Returns a header; its name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the status and the code of the error.
    pub(crate) fn problem(&self) -> (u16, &str) {
        (self.status, self.body["error"]["code"].as_str().unwrap_or_default())
    }
}

impl Backstage {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("contracts")).unwrap();
        let stage = Self { folder, fake: Fake::start_blocking(script).unwrap() };
        stage.with("contracts/review.json", &review().to_string()).with("token.txt", TOKEN)
    }

    /// Adds a file to the launch directory.
    pub(crate) fn with(self, name: &str, content: &str) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// Returns where a file is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command, with the scripted model in force.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(&self.folder, &self.fake, arguments)
    }

    /// Returns the same command, for a program that may have so many files open until it asks for more.
    pub(crate) fn with_few_files(&self, arguments: &[&str], files: &str) -> Command {
        let whole = self.command(arguments);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -S -n {files}; exec \"$0\" \"$@\"")])
            .arg(whole.get_program())
            .args(whole.get_args())
            .env_clear()
            .envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts the server, and waits until it listens.
    pub(crate) fn serve(self, arguments: &[&str]) -> Stage {
        let command = self.command(arguments);
        self.start(command)
    }

    /// Starts the server by this command, and waits until it listens.
    pub(crate) fn start(self, mut command: Command) -> Stage {
        let mut server = command.spawn().unwrap();
        let mut stderr = BufReader::new(server.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving http://");
        let address = address.unwrap_or_else(|| panic!("no server: {line}")).parse().unwrap();
        Stage { folder: self.folder, fake: self.fake, server, stderr, address }
    }
}

impl Stage {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let arguments = ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"];
        Backstage::new(script).serve(&arguments)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command of another process, on the same ledger.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        command(&self.folder, &self.fake, arguments)
    }

    /// Opens the ledger, as another process would.
    pub(crate) async fn ledger(&self) -> Ledger {
        Ledger::open(&Location::Sqlite(self.path("data/airtight/ledger.db"))).await.unwrap()
    }

    /// Sends JSON by any method, with the token.
    pub(crate) fn change(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers =
            format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
        let text = self.posting(path, &headers, &body.to_string());
        self.send(&text.replacen("POST", method, 1))
    }

    /// Sends a request as it stands, and reads the answer to its end.
    pub(crate) fn send(&self, text: &str) -> Answer {
        let mut stream = self.connect();
        // Who is answered before it has said everything cannot say the rest.
        let sent = stream.write_all(text.as_bytes());
        let mut said = Vec::new();
        stream
            .read_to_end(&mut said)
            .and(sent.or_else(|error| if said.is_empty() { Err(error) } else { Ok(()) }))
            .unwrap();
        let said = String::from_utf8(said).unwrap();
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        Answer { status, head: head.to_owned(), body }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let port = self.address.port();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Reads `path` with headers of one's own, each with its line end.
    pub(crate) fn get(&self, path: &str, headers: &str) -> Answer {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n",
            self.address
        ))
    }

    /// Returns a request that posts `body`, with further headers, each with its line end.
    pub(crate) fn posting(&self, path: &str, headers: &str, body: &str) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
    }

    /// Posts `body` as JSON, with the token and further headers.
    pub(crate) fn post_with(&self, path: &str, headers: &str, body: &Value) -> Answer {
        let headers =
            format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n{headers}");
        self.send(&self.posting(path, &headers, &body.to_string()))
    }

    /// Posts `body` as JSON, with the token.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, "", body)
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.server.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits for the end of the server; returns its exit code and what it said since it listened.
    pub(crate) fn end(mut self) -> (Option<i32>, String, Self) {
        let code = self.server.wait().unwrap().code();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (code, said, self)
    }

    /// Returns a run as the ledger has it.
    pub(crate) fn run(&self, id: &str) -> Run {
        let place = Location::Sqlite(self.path("data/airtight/ledger.db"));
        block_on(async {
            let ledger = Ledger::open(&place).await.unwrap();
            let run = ledger.run(id).await.unwrap();
            ledger.close().await;
            run
        })
    }

    /// Waits until a run has ended, and returns it.
    pub(crate) fn ended(&self, id: &str) -> Run {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let run = self.run(id);
            if run.summary.outcome.is_some() {
                return run;
            }
            assert!(Instant::now() < deadline, "the run does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn command(folder: &TempDir, fake: &Fake, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("airtight"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("AIRTIGHT_RETRY_ATTEMPTS", "0")
        .env("AIRTIGHT_MODEL", "anthropic:fake")
        .env("ANTHROPIC_BASE_URL", fake.anthropic_base())
        .env("ANTHROPIC_API_KEY", "key-of-the-test")
        .current_dir(folder.path())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.expect("in time") })
}

/// A question in the format of Chat Completions.
pub(crate) fn chat(model: &str) -> Value {
    json!({
        "model": model,
        "messages": [{ "role": "user", "content": "Review this change." }],
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "review", "strict": true, "schema": review() },
        },
    })
}
