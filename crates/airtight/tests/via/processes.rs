//! What is still running.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the command lines of the processes whose environment names `folder`: an agent CLI and
/// whatever it has started, since all of them inherit their home.
///
/// Processes that are over and only wait to be noticed have no environment.
pub(crate) fn survivors(folder: &Path) -> Vec<String> {
    let mark = folder.as_os_str().as_bytes();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment.windows(mark.len()).any(|window| window == mark)
        })
        .map(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        })
        .collect()
}
