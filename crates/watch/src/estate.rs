//! What is watched, and how.

use std::path::PathBuf;
use std::time::Duration;

use airtight_agent::{Environment, Permissions};
use airtight_core::redact::Redactor;
use airtight_core::watch::{ChainPolicy, CooldownLimits, Surroundings, Tier};

use crate::notify::Target;

/// What is watched, and how: everything that the configuration says.
#[derive(Debug, Clone)]
pub struct Estate {
    /// How long it is from the end of a chain to the next.
    pub interval: Duration,
    /// What chains may do.
    pub policy: ChainPolicy,
    /// How often services may be acted on.
    pub limits: CooldownLimits,
    /// How much is told of what is remembered; 0 tells nothing.
    pub memory_budget_tokens: u32,
    /// How long one session may take.
    pub session_limit: Duration,
    /// How long after a repair it is looked at again, if it is.
    pub verify_after: Option<Duration>,
    /// What sessions are told of where they are.
    pub surroundings: Surroundings,
    /// What there is to watch, in the operator's words.
    pub services: Option<String>,
    /// What is asked of each tier, from the first.
    pub tasks: [String; 3],
    /// The commands that each tier must not run, from the first.
    pub denied: [Permissions; 3],
    /// The folder of the logs.
    pub logs: PathBuf,
    /// How long what is over is kept, if not for ever.
    pub keep: Option<Duration>,
    /// Where older prompts leave their handoff.
    pub handoff: Option<PathBuf>,
    /// A command that may refuse a session before it begins.
    pub pre_session: Option<String>,
    /// Who is told.
    pub targets: Vec<Target>,
    /// The files of the watch itself, which sessions must not write.
    pub own_files: Vec<PathBuf>,
    /// Where commands run.
    pub folder: PathBuf,
    /// What commands see of the environment.
    pub environment: Environment,
    /// Takes out what must not show.
    pub redactor: Redactor,
    /// How long the lead belongs to a process without a sign of life.
    pub lease: Duration,
    /// How often the watch looks for what people decided meanwhile, and whether it may lead.
    pub look_every: Duration,
}

impl Estate {
    /// How long one session may take where nobody says.
    pub const SESSION_LIMIT: Duration = Duration::from_mins(30);

    /// How long the lead lasts where nobody says: a process that hangs is replaced within a minute.
    pub const LEASE: Duration = Duration::from_mins(1);

    /// How often decisions are looked for where nobody says.
    pub const LOOK_EVERY: Duration = Duration::from_secs(2);

    /// Returns what is asked of a tier: its standing instructions.
    pub fn task(&self, tier: Tier) -> &str {
        of_tier::<String>(&self.tasks, tier)
    }

    /// Returns the commands that a tier must not run.
    pub(crate) fn denied(&self, tier: Tier) -> &Permissions {
        of_tier(&self.denied, tier)
    }
}

fn of_tier<T>([observe, investigate, remediate]: &[T; 3], tier: Tier) -> &T {
    match tier {
        Tier::Observe => observe,
        Tier::Investigate => investigate,
        Tier::Remediate => remediate,
    }
}
