//! A small program that works on a ledger in a process of its own, to be killed, stopped or starved.
//!
//! It is this test binary again: [`Child::start`] runs the ignored test [`program`] with a script in
//! the environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use airtight_store::{
    Acknowledged, Begun, Finish, Ledger, NewEvent, NewRun, RunToken, Settings, Worker,
};

use crate::bed::{keyed, met, new_run};

const URL: &str = "AIRTIGHT_TEST_LEDGER";

/// A process that does what it is told, line by line, and answers each line.
pub(crate) struct Child {
    process: Process,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Child {
    pub(crate) fn start(url: &str) -> Self {
        Self::start_with(Command::new(std::env::current_exe().unwrap()), url)
    }

    /// Starts the program by `command`, which runs this binary in its own way.
    pub(crate) fn start_with(mut command: Command, url: &str) -> Self {
        command.args(["--exact", "child::program", "--ignored", "--nocapture"]).env(URL, url);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    /// Tells it to do something and returns its answer.
    pub(crate) fn tell(&mut self, line: &str) -> String {
        self.say(line);
        self.answer()
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).unwrap();
            assert!(read > 0, "the child ended");
            if let Some((_, answer)) = line.split_once("child: ") {
                return answer.trim().to_owned();
            }
        }
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends it as the kernel does when memory is short.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The program itself. Not a test: it waits for lines on standard input.
#[test]
#[ignore = "a program that other tests run"]
fn program() {
    let Some(url) = std::env::var_os(URL) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(work(url.to_str().unwrap()));
}

async fn work(url: &str) {
    let settings = Settings { patience: Duration::from_secs(2), ..Settings::default() };
    let ledger = match Ledger::open_with(&url.parse().unwrap(), settings).await {
        Ok(ledger) => ledger,
        Err(error) => return say(&format!("cannot open: {error}")),
    };
    let mut token = None;
    let mut claim = None;
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match verb {
            "begin" => begin(&ledger, keyed(rest), &mut token).await,
            "enter" => {
                let acknowledged = Acknowledged::Ended;
                begin(&ledger, NewRun { acknowledged, ..new_run() }, &mut token).await
            }
            "attempt" => {
                let attempt = crate::bed::new_attempt();
                tell(ledger.open_attempt(token.as_ref().unwrap(), attempt).await)
            }
            "append" => {
                let event = NewEvent { kind: "e".to_owned(), body: "1".to_owned() };
                tell(ledger.append(token.as_ref().unwrap(), vec![event]).await)
            }
            "finish" => {
                let finish = Finish { claim: claim.clone(), ..met() };
                tell(ledger.finish(token.as_ref().unwrap(), finish).await)
            }
            "claim" => {
                let lease = Duration::from_millis(rest.parse().unwrap());
                let jobs = ledger.claim(&Worker { lease, ..Worker::default() }).await.unwrap();
                claim = jobs.first().map(|job| job.claim.clone());
                format!("claimed {}", jobs.len())
            }
            "lease" => {
                let ttl = Duration::from_millis(rest.parse().unwrap());
                let lease = ledger.lease("leader", ttl).await.unwrap();
                lease.map_or("no".to_owned(), |lease| format!("leads {}", lease.fence))
            }
            other => panic!("not understood: {other}"),
        };
        say(&answer);
    }
}

async fn begin(ledger: &Ledger, run: NewRun, token: &mut Option<RunToken>) -> String {
    match ledger.begin(run).await {
        Ok(Begun::Fresh(fresh)) => {
            let answer = format!("fresh {}", fresh.id());
            *token = Some(fresh);
            answer
        }
        Ok(Begun::Finished(_)) => "finished".to_owned(),
        Ok(Begun::Busy { .. }) => "busy".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

fn tell<T>(done: Result<T, airtight_store::StoreError>) -> String {
    match done {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

fn say(answer: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "child: {answer}").unwrap();
    output.flush().unwrap();
}
