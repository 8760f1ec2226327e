//! Paths that try to leave, and files that must stay whole.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use test_case::test_case;

use super::{PathError, Workspace, Written};

const SECRET: &str = "secret of somebody else";

struct Ground {
    /// Keeps the folders until the test is over.
    _folder: TempDir,
    base: PathBuf,
    workspace: Workspace,
}

/// Makes a workspace `ws` with links of all kinds, beside a folder `outside`.
fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let root = base.join("ws");
    fs::create_dir_all(root.join("dir/deep")).unwrap();
    fs::create_dir(base.join("outside")).unwrap();
    fs::create_dir(base.join("ws-twin")).unwrap();
    fs::write(base.join("outside/secret.txt"), SECRET).unwrap();
    fs::write(base.join("ws-twin/secret.txt"), SECRET).unwrap();
    fs::write(root.join("a.txt"), "a").unwrap();
    fs::write(root.join("dir/b.txt"), "b").unwrap();
    fs::create_dir(root.join("~")).unwrap();
    for (link, target) in [
        ("in", "dir"),
        ("in-file", "dir/../in/b.txt"),
        ("dir/deep/back", "../../a.txt"),
        ("out", "../outside"),
        ("out-file", "../outside/secret.txt"),
        ("out-deep", "dir/deep/../../../outside/secret.txt"),
        ("out-absolute", "/etc"),
        ("up", ".."),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("dangling", "missing.txt"),
        ("dangling-out", "../outside/new.txt"),
        ("process-root", "/proc/self/root"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(root.join("dir"), root.join("in-absolute")).unwrap();
    symlink("out", root.join("in-then-out")).unwrap();
    mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    Ground { _folder: folder, base, workspace }
}

fn read(ground: &Ground, path: &str) -> Result<String, PathError> {
    let path = path.replace("BASE", ground.base.to_str().unwrap());
    let (mut file, _) = ground.workspace.open_file(&path)?;
    let mut text = String::new();
    let _: usize = file.read_to_string(&mut text).unwrap();
    Ok(text)
}

#[test_case("a.txt" => "a")]
#[test_case("./a.txt" => "a")]
#[test_case("dir/../a.txt" => "a")]
#[test_case("dir//b.txt" => "b")]
#[test_case("BASE/ws/dir/b.txt" => "b"; "absolute")]
#[test_case("BASE/ws/./dir/deep/../b.txt" => "b"; "absolute with dots")]
#[test_case("in/b.txt" => "b"; "through a link")]
#[test_case("in/deep/../b.txt" => "b"; "dots behind a link")]
#[test_case("in/../a.txt" => "a"; "dots leave the folder that the link leads to")]
#[test_case("in-file" => "b"; "a link to a file")]
#[test_case("in-absolute/b.txt" => "b"; "an absolute link inside")]
#[test_case("dir/deep/back" => "a"; "a link with dots that stays inside")]
fn a_path_inside_is_read(path: &str) -> String {
    read(&ground(), path).unwrap()
}

#[test_case("../outside/secret.txt" => "Outside")]
#[test_case("dir/../../outside/secret.txt" => "Outside")]
#[test_case("dir/../../ws/a.txt" => "Outside"; "out and in again")]
#[test_case("BASE/outside/secret.txt" => "Outside"; "absolute outside")]
#[test_case("BASE/ws/../outside/secret.txt" => "Outside"; "absolute with dots outside")]
#[test_case("BASE/ws-twin/secret.txt" => "Outside"; "a name that begins like the root")]
#[test_case("/etc/passwd" => "Outside")]
#[test_case("/" => "Outside"; "everything")]
#[test_case("out/secret.txt" => "Outside"; "a link to a folder outside")]
#[test_case("out-file" => "Outside"; "a link to a file outside")]
#[test_case("out-deep" => "Outside"; "a link with dots to a file outside")]
#[test_case("out-absolute/passwd" => "Outside"; "an absolute link outside")]
#[test_case("in-then-out/secret.txt" => "Outside"; "a link to a link outside")]
#[test_case("up/outside/secret.txt" => "Outside"; "a link to the parent")]
#[test_case("process-root/etc/passwd" => "Outside"; "the process's root")]
#[test_case("dangling-out" => "Outside"; "a link to nothing outside")]
#[test_case("loop" => "Links")]
#[test_case("ping/x" => "Links"; "links in a circle")]
#[test_case("dangling" => "NotFound")]
#[test_case("missing/../a.txt" => "NotFound"; "dots behind what is not there")]
#[test_case("~/x" => "NotFound"; "tilde is a name")]
#[test_case("pipe" => "Special")]
#[test_case("dir" => "IsAFolder")]
#[test_case("." => "IsAFolder"; "the root")]
#[test_case("a.txt/x" => "NotAFolder")]
#[test_case("a.txt/../a.txt" => "NotAFolder"; "dots behind a file")]
#[test_case("" => "Malformed"; "empty")]
#[test_case("a\0b" => "Malformed"; "nul")]
fn a_path_is_refused(path: &str) -> String {
    let error = read(&ground(), path).unwrap_err();
    assert!(!error.to_string().contains("outside/"), "{error}");
    format!("{error:?}")
}

#[test]
fn a_long_path_is_refused() {
    let error = read(&ground(), &"a/".repeat(3000)).unwrap_err();
    assert!(matches!(error, PathError::Malformed));
}

#[test_case("new.txt" => "new.txt")]
#[test_case("x/y/new.txt" => "x/y/new.txt"; "folders are made")]
#[test_case("in/new.txt" => "dir/new.txt"; "through a link")]
#[test_case("dangling" => "missing.txt"; "through a link to what is not there")]
#[test_case("dir/../new.txt" => "new.txt"; "with dots")]
fn a_file_is_created_where_the_path_leads(path: &str) -> String {
    let ground = ground();
    let (written, place) = ground.workspace.write(path, b"new").unwrap();
    assert_eq!(written, Written::Created);
    assert_eq!(fs::read(ground.workspace.root().join(&place.relative)).unwrap(), b"new");
    place.shown()
}

#[test_case("../outside/new.txt" => "Outside")]
#[test_case("out/new.txt" => "Outside"; "in a folder outside")]
#[test_case("out-file" => "Outside"; "over a file outside")]
#[test_case("dangling-out" => "Outside"; "through a link to nothing outside")]
#[test_case("missing/../../outside/new.txt" => "NotFound"; "dots behind what is not there")]
#[test_case("pipe" => "Special")]
#[test_case("dir" => "IsAFolder")]
#[test_case("." => "IsAFolder"; "the root")]
#[test_case("a.txt/x" => "NotAFolder")]
#[test_case(".git/hooks/pre-commit" => "Protected")]
#[test_case("dir/.GIT/config" => "Protected"; "whatever its case")]
#[test_case("airtight.toml" => "Protected"; "our own settings")]
fn a_write_is_refused_and_changes_nothing(path: &str) -> String {
    let ground = ground();
    let error = ground.workspace.write(path, b"new").unwrap_err();
    assert_eq!(fs::read_to_string(ground.base.join("outside/secret.txt")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(ground.base.join("outside")).unwrap().count(), 1);
    assert!(!ground.workspace.root().join(".git").exists());
    format!("{error:?}")
}

#[test]
fn a_rewritten_file_keeps_its_mode_and_leaves_hard_links_alone() {
    let ground = ground();
    let root = ground.workspace.root();
    fs::set_permissions(root.join("a.txt"), fs::Permissions::from_mode(0o4750)).unwrap();
    fs::hard_link(root.join("a.txt"), ground.base.join("outside/twin")).unwrap();
    let (written, _) = ground.workspace.write("a.txt", b"new").unwrap();
    assert_eq!(written, Written::Replaced);
    assert_eq!(fs::metadata(root.join("a.txt")).unwrap().mode() & 0o7777, 0o750);
    assert_eq!(fs::read(ground.base.join("outside/twin")).unwrap(), b"a");
}

#[test]
fn no_temporary_file_stays_behind() {
    let ground = ground();
    drop(ground.workspace.write("dir/b.txt", b"new").unwrap());
    let names: Vec<_> = fs::read_dir(ground.workspace.root().join("dir"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let ground = ground();
    let existing = ground.workspace.read_whole("a.txt", 10).unwrap().unwrap();
    fs::write(ground.workspace.root().join("a.txt"), "other").unwrap();
    assert!(matches!(existing.replace(b"new"), Err(PathError::Changed)));
    assert_eq!(fs::read(ground.workspace.root().join("a.txt")).unwrap(), b"other");
}

#[test]
fn a_folder_that_is_swapped_for_a_link_is_never_followed() {
    let ground = ground();
    let root = ground.workspace.root().to_owned();
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/secret.txt"), "ours").unwrap();
    symlink("../outside", root.join("fake")).unwrap();
    let done = AtomicBool::new(false);
    let mut ours = 0;
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for name in ["real", "fake"] {
                    fs::rename(root.join(name), root.join("swap")).unwrap();
                    fs::rename(root.join("swap"), root.join(name)).unwrap();
                }
            }
        });
        while ours < 200 {
            // Between two swaps there is nothing, or a link that is refused.
            if let Ok(text) = read(&ground, "swap/secret.txt") {
                assert_eq!(text, "ours");
                ours += 1;
            }
        }
        done.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
    });
}

#[test]
fn a_workspace_must_be_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(Workspace::open(folder.path().join("file")).is_err());
    assert!(Workspace::open(folder.path().join("missing")).is_err());
}
