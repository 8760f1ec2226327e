//! The surroundings the command was launched in: the only place that reads them.

use std::path::{Path, PathBuf};

/// What the command may know of its surroundings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    launch_directory: PathBuf,
    home: Option<PathBuf>,
}

impl Environment {
    /// Reads the surroundings, once.
    pub(crate) fn read() -> Self {
        Self {
            launch_directory: std::env::current_dir().unwrap_or_default(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }

    /// Returns `typed` with a leading `~` expanded, resolved against the launch directory.
    pub(crate) fn resolve(&self, typed: &str) -> PathBuf {
        let expanded = match (&self.home, typed.strip_prefix('~')) {
            (Some(home), Some("")) => home.clone(),
            (Some(home), Some(rest)) if rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(typed),
        };
        self.launch_directory.join(expanded)
    }

    /// Returns the directory the command was launched in.
    pub(crate) fn launch_directory(&self) -> &Path {
        &self.launch_directory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_against_home_and_the_launch_directory() {
        let environment =
            Environment { launch_directory: "/launch".into(), home: Some("/home/ada".into()) };
        let resolved = ["~", "~/a.json", "~ada/a", "a.json", "/a.json"]
            .map(|typed| environment.resolve(typed).display().to_string());
        assert_eq!(
            resolved,
            ["/home/ada", "/home/ada/a.json", "/launch/~ada/a", "/launch/a.json", "/a.json"]
        );
    }
}
