//! A folder for what only this process and its children are to read.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

/// Makes a folder in `temporary` that nobody else can look into, whatever the umask.
pub(crate) fn private_folder(temporary: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("airtight-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_look_into_it() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = private_folder(temporary.path()).unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
