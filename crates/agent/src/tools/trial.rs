//! A workspace with real tools for tests.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airtight_core::message::{ToolCall, ToolResult, ToolStatus};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::Standard;
use crate::hooks::Hooks;
use crate::permission::{ApprovalMode, Permissions};
use crate::process::Environment;
use crate::toolbox::Toolbox;
use crate::workspace::Workspace;

/// A workspace with real tools.
pub(crate) struct Trial {
    /// Keeps the folder until the test is over.
    _folder: TempDir,
    root: PathBuf,
    pub(crate) toolbox: Toolbox,
}

impl Trial {
    /// Makes one in which everything is allowed.
    pub(crate) fn new() -> Self {
        Self::with(Permissions::new(ApprovalMode::Yolo))
    }

    pub(crate) fn with(permissions: Permissions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let permissions = Arc::new(permissions);
        let variables = [("PATH", "/usr/bin:/bin"), ("FAKE_API_KEY", "canary"), ("KEPT", "yes")];
        let variables = variables.map(|(name, value)| (OsString::from(name), value.into()));
        let tools = Standard {
            workspace: Arc::new(Workspace::open(&root).unwrap()),
            permissions: Arc::clone(&permissions),
            environment: Environment::without_secrets(variables),
            sandbox: None,
            private_hosts: vec!["127.0.0.1".to_owned()],
        };
        let toolbox = Toolbox::builder().permissions(permissions).tools(tools.into_tools()).build();
        Self { _folder: folder, root, toolbox }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn put(&self, relative: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = call(name, &arguments.to_string());
        self.toolbox.call(&call, &Hooks::default(), &CancellationToken::new()).await
    }

    /// Returns what a call that must succeed says.
    pub(crate) async fn done(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.status, ToolStatus::Done, "{}", result.content);
        result.content
    }

    /// Returns what a call that must fail says.
    pub(crate) async fn failed(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result.status, ToolStatus::Failed, "{}", result.content);
        result.content
    }
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: format!("call-{name}"),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    }
}
