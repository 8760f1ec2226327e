//! Running the tools that one answer asks for.
//!
//! Calls that change nothing run together; one that may change something runs alone, after
//! everything before it and before everything behind it. Results come back in the order asked.

use std::collections::BTreeMap;
use std::time::Duration;

use airtight_core::message::{ToolCall, ToolResult, ToolStatus};
use airtight_core::run::Household;
use futures_util::stream::{self, StreamExt as _};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::background::Task;
use super::{Performance, Scene};
use crate::subagent;
use crate::telemetry;
use crate::toolbox::Effect;

/// How many calls run together: enough for a model's usual handful, few enough for a laptop.
const TOGETHER: usize = 8;
/// How long tools may take to end after they were told to: the toolbox ends them before.
const GRACE: Duration = Duration::from_secs(5);
/// The same for those of a subagent: less than the holdback of the run that waits for it.
const GRACE_OF_SUBAGENT: Duration = Duration::from_millis(250);

/// What came of one call.
pub(crate) struct Returned<'a> {
    pub(crate) result: ToolResult,
    /// What goes on behind the run's back.
    pub(crate) task: Option<(String, Task<'a>)>,
}

impl Returned<'_> {
    pub(crate) fn of(result: ToolResult) -> Self {
        Self { result, task: None }
    }
}

/// What a call may use, if it sends a subagent.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    pub(crate) household: Household,
    /// What is left of the wall time.
    pub(crate) wall: Option<Duration>,
}

/// Whether a call can run beside others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Welcome,
    Alone,
}

impl<'a> Performance<'a> {
    pub(super) async fn call_tools(&mut self, calls: Vec<ToolCall>) {
        let mut results = Vec::with_capacity(calls.len());
        for group in groups(&calls, |call| self.company(call)) {
            let mut returned = self.call_group(group).await;
            for (index, call) in group.iter().enumerate() {
                let Some(one) = returned.remove(&index) else {
                    results.push(unfinished(call));
                    continue;
                };
                if let Some((id, task)) = one.task {
                    self.run.background_began(&id);
                    self.background.start(id, task);
                }
                results.push(one.result);
            }
        }
        self.run.tools_returned(results);
    }

    fn company(&self, call: &ToolCall) -> Company {
        if self.scene.subagents_for(call).is_some() {
            return Company::Welcome;
        }
        match self.scene.toolbox.effect(&call.name) {
            Some(Effect::Reads | Effect::Fetches) | None => Company::Welcome,
            Some(Effect::Edits | Effect::Executes) => Company::Alone,
        }
    }

    /// Runs calls together and returns what came of those that ended in time, by index.
    async fn call_group(&mut self, calls: &[ToolCall]) -> BTreeMap<usize, Returned<'a>> {
        let (scene, limit, work) = (self.scene, self.limit.clone(), self.work.clone());
        let mut returned = BTreeMap::new();
        if work.is_cancelled() {
            return returned;
        }
        let allowance = Allowance { household: self.run.household(), wall: limit.left() };
        let futures = calls.iter().cloned().enumerate().map(|(index, call)| {
            let (work, allowance) = (work.clone(), allowance.clone());
            async move { (index, call_one(scene, call, allowance, work).await) }
        });
        let mut stream = stream::iter(futures).buffer_unordered(TOGETHER);
        let mut grace_until = None;
        loop {
            tokio::select! {
                biased;
                next = stream.next() => match next {
                    Some((index, one)) => returned.insert(index, one),
                    None => return returned,
                },
                () = self.background.advance(), if self.background.is_working() => None,
                () = limit.reached(), if grace_until.is_none() => {
                    work.cancel();
                    let grace = scene.parent.map_or(GRACE, |_| GRACE_OF_SUBAGENT);
                    grace_until = Some(Instant::now() + grace);
                    None
                }
                () = until(grace_until), if grace_until.is_some() => return returned,
            };
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Splits calls where one has to run alone.
fn groups(calls: &[ToolCall], company: impl Fn(&ToolCall) -> Company) -> Vec<&[ToolCall]> {
    calls
        .chunk_by(|left, right| {
            company(left) == Company::Welcome && company(right) == Company::Welcome
        })
        .collect()
}

async fn call_one(
    scene: Scene<'_>,
    call: ToolCall,
    allowance: Allowance,
    cancel: CancellationToken,
) -> Returned<'_> {
    let is_known =
        scene.subagents_for(&call).is_some() || scene.agent.toolbox.effect(&call.name).is_some();
    let span = telemetry::tool(is_known.then_some(call.name.as_str()));
    let returned = serve(scene, call, allowance, cancel).instrument(span.clone()).await;
    telemetry::tool_ended(&span, returned.result.status);
    returned
}

async fn serve(
    scene: Scene<'_>,
    call: ToolCall,
    allowance: Allowance,
    cancel: CancellationToken,
) -> Returned<'_> {
    if let Some(subagents) = scene.subagents_for(&call) {
        return subagent::call(scene, subagents, call, allowance, cancel).await;
    }
    Returned::of(scene.toolbox.call(&call, &scene.agent.hooks, &cancel).await)
}

fn unfinished(call: &ToolCall) -> ToolResult {
    failed(call, "Cancelled: the run was stopped before this call ended.")
}

/// Makes the result of a call that failed.
pub(crate) fn failed(call: &ToolCall, content: impl Into<String>) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: content.into(),
        status: ToolStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_effects_run_alone_and_in_order() {
        let names = ["read", "grep", "write", "write", "read", "list"];
        let calls = names.map(|name| ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: String::new(),
            signature: None,
        });
        let company =
            |call: &ToolCall| if call.name == "write" { Company::Alone } else { Company::Welcome };
        let grouped: Vec<Vec<&str>> = groups(&calls, company)
            .into_iter()
            .map(|group| group.iter().map(|call| call.name.as_str()).collect())
            .collect();
        assert_eq!(
            grouped,
            [vec!["read", "grep"], vec!["write"], vec!["write"], vec!["read", "list"]]
        );
    }
}
