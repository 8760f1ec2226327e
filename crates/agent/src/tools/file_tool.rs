//! What all tools that work on files share: each of them is a set of parameters and what to do.
//!
//! The parameters are a struct that is read from the arguments. Around it are the name and schema
//! that the model is told, the path that permissions are asked for, a thread that may wait, and the
//! words for a path that is refused.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use airtight_core::message::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::blocking::{Stop, blocking};
use crate::permission::{Permissions, Subject};
use crate::toolbox::{CallContext, Called, Effect, Tool, ToolError};
use crate::workspace::{PathError, Workspace};

/// What tools that work on files work with.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) workspace: Arc<Workspace>,
    /// Who may read what; a tool that looks at many files asks for each.
    pub(super) permissions: Arc<Permissions>,
}

/// The parameters of one tool, and what it does with them.
///
/// A parameter `path` is what permissions are asked for; without it the whole workspace is.
pub(super) trait FileTask: DeserializeOwned + fmt::Debug + Send + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// What the model is told of it.
    const DESCRIPTION: &'static str;
    /// What it may change.
    const EFFECT: Effect;
    /// The parameters without a default.
    const REQUIRED: &'static [&'static str];

    /// Returns the schemas of the parameters, by name.
    fn properties() -> Value;

    /// Does what is asked.
    fn perform(&self, ground: &Ground, stop: &Stop) -> Result<String, Failure>;
}

/// Why a task failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The parameter `path` is refused.
    Path(PathError),
    /// Anything else.
    Told(ToolError),
}

impl Failure {
    /// Makes a failure in words for the model.
    pub(super) fn told(words: impl Into<String>) -> Self {
        Self::Told(ToolError(words.into()))
    }

    fn about(self, path: &str) -> ToolError {
        match self {
            Self::Path(error) => refused(path, &error),
            Self::Told(error) => error,
        }
    }
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::Told(error)
    }
}

/// Says which path was refused, and why.
pub(super) fn refused(path: &str, error: &PathError) -> ToolError {
    ToolError(format!("{path:?} {error}"))
}

/// Returns the workspace itself, as a path: the default of `path`.
pub(super) fn root() -> String {
    ROOT.to_owned()
}

const ROOT: &str = ".";

/// A tool whose calls are tasks of one kind.
#[derive(Debug)]
pub(super) struct FileTool<T> {
    spec: ToolSpec,
    ground: Ground,
    task: PhantomData<fn() -> T>,
}

impl<T: FileTask> FileTool<T> {
    /// Makes the tool.
    pub(super) fn on(ground: &Ground) -> Arc<dyn Tool> {
        let spec = super::spec(T::NAME, T::DESCRIPTION, &T::properties(), T::REQUIRED);
        Arc::new(Self { spec, ground: ground.clone(), task: PhantomData })
    }
}

impl<T: FileTask> Tool for FileTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        T::EFFECT
    }

    fn subject(&self, arguments: &Map<String, Value>) -> Option<Subject> {
        let path = super::text(arguments, "path", ROOT);
        Some(Subject::Path(self.ground.workspace.subject(path)))
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            let task: T = super::read(arguments)?;
            let path = super::text(arguments, "path", ROOT).to_owned();
            let ground = self.ground.clone();
            blocking(context, move |stop| {
                stop.check()?;
                task.perform(&ground, stop).map_err(|failure| failure.about(&path))
            })
            .await
        })
    }
}
