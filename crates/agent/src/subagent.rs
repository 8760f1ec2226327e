//! The `agent` tool: another run, with its own conversation, tools and bounds, inside a run.
//!
//! A subagent has the tools of the one who sends it, except `agent` itself. It gets the terminal
//! tool only if the call brings a schema of its own. It pays from the purse of the run that sent it,
//! which others may pay from at the same time.

mod errand;
mod outcome;

use std::time::Duration;

use airtight_core::message::{ToolCall, ToolResult, ToolSpec, ToolStatus};
use airtight_core::price::Price;
use airtight_core::run::{Notification, Policy, RepairRung, Run, TextRung};
use tokio_util::sync::CancellationToken;

use crate::drive::{Allowance, Performance, Returned, Scene, failed};
use crate::telemetry::{self, Sender};
use crate::toolbox::Toolbox;
use errand::{Errand, Manner};
use outcome::Outcome;

/// What the model calls the tool.
pub const AGENT_TOOL: &str = "agent";

/// How subagents are sent.
#[derive(Debug, Clone)]
pub struct Subagents {
    /// Standing instructions for each of them.
    pub system: Option<String>,
    /// What tokens cost, if known.
    pub price: Option<Price>,
    /// The most model calls of one.
    pub max_turns: u32,
    /// The most wall time of one.
    pub wall: Duration,
    /// Whether plain text counts where one has a schema to meet.
    pub text: TextRung,
    /// Whether an answer counts there that had to be changed.
    pub repair: RepairRung,
    /// The most output tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
}

impl Default for Subagents {
    fn default() -> Self {
        Self {
            system: None,
            price: None,
            max_turns: 50,
            wall: Duration::from_mins(10),
            text: TextRung::default(),
            repair: RepairRung::default(),
            max_output_tokens: None,
            temperature: None,
        }
    }
}

impl Subagents {
    /// Lets each of them answer as strictly, as long and as freely as the run that sends it.
    #[must_use]
    pub fn like(mut self, policy: &Policy) -> Self {
        self.text = policy.text;
        self.repair = policy.repair;
        self.max_output_tokens = policy.max_output_tokens;
        self.temperature = policy.temperature;
        self
    }

    /// Returns what the model is told of the tool.
    pub fn spec(&self) -> ToolSpec {
        errand::spec()
    }
}

/// Serves one call of the tool.
pub(crate) async fn call<'a>(
    scene: Scene<'a>,
    subagents: &'a Subagents,
    call: ToolCall,
    allowance: Allowance,
    cancel: CancellationToken,
) -> Returned<'a> {
    let hooks = &scene.agent.hooks;
    if let Err(veto) = hooks.before(&call).await {
        scene.toolbox.deny_by_hook(&call);
        return Returned::of(failed(&call, veto.why));
    }
    let prepared = prepare(scene, subagents, &call, &allowance);
    let (errand, run, toolbox) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => {
            let result = failed(&call, format!("Error: {message}"));
            hooks.after(&call, &result).await;
            return Returned::of(result);
        }
    };
    let cancel = cancel.child_token();
    match errand.manner {
        Manner::Awaited => {
            let outcome = perform(scene, run, call.id.clone(), toolbox, cancel).await;
            let (status, content) = outcome.told();
            let ToolCall { id: call_id, name, .. } = call.clone();
            let result = ToolResult { call_id, name, content, status };
            hooks.after(&call, &result).await;
            Returned { result, task: None }
        }
        Manner::Background => {
            let id = format!("agent-{}", scene.stage.number_task());
            let content = format!(
                "Started in the background as task `{id}` ({}). You will be notified when it ends.",
                errand.description
            );
            let ToolCall { id: call_id, name, .. } = call.clone();
            let result = ToolResult { call_id, name, content, status: ToolStatus::Done };
            hooks.after(&call, &result).await;
            let task_id = id.clone();
            // Made here, so that its span belongs to this call and not to what runs later.
            let work = perform(scene, run, call.id, toolbox, cancel);
            let task = Box::pin(async move { finished(task_id, &work.await) });
            Returned { result, task: Some((id, task)) }
        }
    }
}

/// Reads the call and starts the run it asks for; an error is for the model.
fn prepare(
    scene: Scene<'_>,
    subagents: &Subagents,
    call: &ToolCall,
    allowance: &Allowance,
) -> Result<(Errand, Run, Toolbox), String> {
    let errand = Errand::parse(&call.arguments).map_err(|error| error.to_string())?;
    let specs = errand.choose(scene.toolbox.specs()).map_err(|error| error.to_string())?;
    let toolbox = scene.toolbox.only(|name| specs.iter().any(|spec| spec.name == name));
    let provider = &scene.agent.provider;
    let wall = allowance.wall;
    let job = errand.job(provider, subagents, specs, wall).map_err(|error| error.to_string())?;
    let run = Run::within(&allowance.household, job).map_err(|error| error.to_string())?;
    let toolbox = toolbox.among(run.tools());
    Ok((errand, run, toolbox))
}

/// Performs a subagent's run; boxed, because a run's future holds those of its subagents.
fn perform<'a>(
    scene: Scene<'a>,
    run: Run,
    call_id: String,
    toolbox: Toolbox,
    cancel: CancellationToken,
) -> std::pin::Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
    let span = telemetry::run(&scene.agent.provider, run.job(), Sender::Agent);
    Box::pin(async move {
        let scene = Scene { parent: Some(&call_id), toolbox: &toolbox, ..scene };
        let report = Performance::new(scene, Box::new(run), cancel.clone()).perform(span).await;
        Outcome::of(report, &cancel)
    })
}

fn finished(task_id: String, outcome: &Outcome) -> Notification {
    let status = outcome.status().to_owned();
    let (_, text) = outcome.told();
    Notification { task_id, status, text }
}
