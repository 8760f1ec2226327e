//! The surroundings the command was launched in: the only place that reads them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use airtight_core::redact::{holds_secret, names_secret};
use etcetera::BaseStrategy;

/// What the command may know of its surroundings.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    launch_directory: PathBuf,
    home: Option<PathBuf>,
    /// What is not UTF-8 cannot be a setting or a key.
    variables: BTreeMap<String, String>,
}

impl std::fmt::Debug for Environment {
    /// Leaves the variables out: some are keys.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Environment");
        shown.field("launch_directory", &self.launch_directory).field("home", &self.home);
        shown.finish_non_exhaustive()
    }
}

impl Environment {
    /// Reads the surroundings, once.
    pub(crate) fn read() -> Self {
        drop(Self::program());
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self {
            launch_directory: std::env::current_dir().unwrap_or_default(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            variables: variables.collect(),
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

    /// Returns the user's home.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the value of a variable, unless it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Returns the names of all variables that start with `prefix`.
    pub(crate) fn variables_of(&self, prefix: &str) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str).filter(move |name| name.starts_with(prefix))
    }

    /// Returns every variable.
    pub(crate) fn all(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.into(), value.into()))
    }

    /// Returns the same surroundings without the variables of these names.
    pub(crate) fn without(&self, names: &[String]) -> Self {
        let mut without = self.clone();
        without.variables.retain(|name, _| !names.contains(name));
        without
    }

    /// Returns the values of variables that are secrets, by their names or their shapes.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let is_secret =
            |(name, value): &(&String, &String)| names_secret(name) || holds_secret(value);
        let secrets = self.variables.iter().filter(is_secret);
        secrets.map(|(_, value)| value.trim())
    }

    /// Returns the variables whose names say that they are secrets, with their values.
    pub(crate) fn named_secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.trim()));
        variables.filter(|(name, value)| {
            names_secret(name) && !value.is_empty() && !is_count(name, value)
        })
    }

    /// Returns this program, which also serves as the helper of the sandbox: where it was found at first,
    /// for Linux names no file any more once it is replaced.
    pub(crate) fn program() -> Option<PathBuf> {
        static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_exe().ok());
        PROGRAM.clone()
    }

    /// Returns the folder for what is not kept.
    pub(crate) fn temporary_folder() -> PathBuf {
        std::env::temp_dir()
    }

    /// Returns the user's folder for our configuration.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        self.base_folder("XDG_CONFIG_HOME", BaseStrategy::config_dir)
    }

    /// Returns the user's folder for what we keep.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        self.base_folder("XDG_DATA_HOME", BaseStrategy::data_dir)
    }

    /// Prefers the variable, so that the folder is known where there is no home.
    fn base_folder(
        &self,
        variable: &str,
        usual: impl FnOnce(&etcetera::base_strategy::Xdg) -> PathBuf,
    ) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = named.or_else(|| {
            let strategy = etcetera::base_strategy::Xdg::new().ok()?;
            self.home.is_some().then(|| usual(&strategy))
        })?;
        Some(folder.join("airtight"))
    }
}

/// Claims that a variable holds a number of tokens, and no token: `MAX_OUTPUT_TOKENS=4096`.
fn is_count(name: &str, value: &str) -> bool {
    name.to_ascii_uppercase().ends_with("TOKENS") && value.chars().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
impl Environment {
    /// Makes surroundings for a test.
    pub(crate) fn of(launch_directory: &Path, variables: &[(&str, &str)]) -> Self {
        Self {
            launch_directory: launch_directory.to_owned(),
            home: None,
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_resolve_against_home_and_the_launch_directory() {
        let environment = Environment {
            launch_directory: "/launch".into(),
            home: Some("/home/ada".into()),
            ..Environment::default()
        };
        let resolved = ["~", "~/a.json", "~ada/a", "a.json", "/a.json"]
            .map(|typed| environment.resolve(typed).display().to_string());
        assert_eq!(
            resolved,
            ["/home/ada", "/home/ada/a.json", "/launch/~ada/a", "/launch/a.json", "/a.json"]
        );
    }

    #[test]
    fn a_secret_is_known_by_its_name_or_by_its_shape() {
        let variables =
            [("MY_TOKEN", "one"), ("DATABASE_URL", "db://ada:two@host"), ("LANG", "three")];
        let environment = Environment::of(Path::new("/"), &variables);
        let secrets: Vec<&str> = environment.secrets().collect();
        assert_eq!(secrets, ["db://ada:two@host", "one"]);
    }

    #[test]
    fn a_number_of_tokens_is_no_secret() {
        let variables =
            [("A_TOKEN", "4096"), ("MAX_TOKENS", "4096"), ("B_KEY", " "), ("LANG", "x")];
        let environment = Environment::of(Path::new("/"), &variables);
        let named: Vec<(&str, &str)> = environment.named_secrets().collect();
        assert_eq!(named, [("A_TOKEN", "4096")]);
    }

    #[test]
    fn variables_never_show_in_debug_output() {
        let environment = Environment::of(Path::new("/"), &[("OPENAI_API_KEY", "s3cret")]);
        assert!(!format!("{environment:?}").contains("s3cret"));
        assert_eq!(environment.variable("OPENAI_API_KEY"), Some("s3cret"));
    }
}
