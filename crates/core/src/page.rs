//! Pages of the documentation that tests write.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the repository's folder.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated page with the one in the repository, or writes it if asked to.
pub(crate) fn compare(place: &str, page: &str) {
    let path = repository().join(place);
    if env::var_os("AIRTIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{place} is out of date: run `make bless`");
}
