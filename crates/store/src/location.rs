//! Where a ledger is.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::StoreError;
use crate::settings::Access;

/// Where a ledger is: a file of SQLite, or a database of PostgreSQL.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file; it and its folder are made if they are missing.
    Sqlite(PathBuf),
    /// A URL, with what it takes to log in.
    Postgres(String),
}

impl Location {
    /// Returns the URL that the driver understands.
    pub(crate) fn url(&self, access: Access) -> Result<String, StoreError> {
        match self {
            Self::Postgres(url) => Ok(url.clone()),
            Self::Sqlite(path) => {
                let path = path.to_str().ok_or(StoreError::PathNotText)?;
                let mut url = String::from("sqlite:");
                for byte in path.bytes() {
                    match byte {
                        b'/' | b'.' | b'-' | b'_' => url.push(char::from(byte)),
                        _ if byte.is_ascii_alphanumeric() => url.push(char::from(byte)),
                        _ => write!(url, "%{byte:02x}").unwrap_or_default(),
                    }
                }
                url.push_str(match access {
                    Access::Write => "?mode=rw",
                    Access::Read => "?mode=ro",
                });
                Ok(url)
            }
        }
    }

    /// Returns the file of a ledger on SQLite.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) => Some(path),
            Self::Postgres(_) => None,
        }
    }
}

impl FromStr for Location {
    type Err = StoreError;

    /// Takes a path, `sqlite:PATH` or `postgres://…`.
    fn from_str(text: &str) -> Result<Self, StoreError> {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("postgres" | "postgresql") => Ok(Self::Postgres(text.to_owned())),
            Some("sqlite") => {
                let path = text.get("sqlite:".len()..).unwrap_or_default();
                Self::file(path.strip_prefix("//").unwrap_or(path))
            }
            Some(scheme) if text.contains("://") => {
                Err(StoreError::Scheme { scheme: scheme.to_owned() })
            }
            _ => Self::file(text),
        }
    }
}

impl Location {
    fn file(path: &str) -> Result<Self, StoreError> {
        if path.is_empty() || path.contains('\0') || path == ":memory:" {
            return Err(StoreError::NoFile);
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl fmt::Display for Location {
    /// Shows no password, and no parameters, which may hold one.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => path.display().fmt(formatter),
            Self::Postgres(url) => {
                let url = url.split(['?', '#']).next().unwrap_or_default();
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", ""));
                let (login, place) = rest.rsplit_once('@').unwrap_or(("", rest));
                let user = login.split(':').next().unwrap_or_default();
                let at = if login.is_empty() { "" } else { "@" };
                write!(formatter, "{scheme}://{user}{at}{place}")
            }
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("ledger.db" => "ledger.db")]
    #[test_case("/var/a b/l.db" => "/var/a b/l.db")]
    #[test_case("sqlite:ledger.db" => "ledger.db")]
    #[test_case("sqlite:///var/l.db" => "/var/l.db")]
    #[test_case("postgres://ada:pw@db:5432/x?password=pw" => "postgres://ada@db:5432/x")]
    #[test_case("postgres://ada:p@w@db/x" => "postgres://ada@db/x")]
    #[test_case("postgresql://db/x" => "postgresql://db/x")]
    #[test_case("POSTGRES://:pw@db" => "POSTGRES://@db")]
    fn a_location_is_shown_without_its_password(text: &str) -> String {
        text.parse::<Location>().unwrap().to_string()
    }

    #[test_case("mysql://db/x")]
    #[test_case("")]
    #[test_case("sqlite:")]
    #[test_case(":memory:")]
    fn what_is_no_place_for_a_ledger_is_refused(text: &str) {
        assert!(text.parse::<Location>().is_err());
    }

    #[test]
    fn a_path_survives_the_url() {
        let url = Location::Sqlite(PathBuf::from("/a b/ü?#%.db")).url(Access::Write).unwrap();
        assert_eq!(url, "sqlite:/a%20b/%c3%bc%3f%23%25.db?mode=rw");
    }
}
