//! Python, with Pydantic.

use std::process::Command;

use airtight_core::generate::Target;

use crate::toolchain::{Toolchain, say_missing};
use crate::trial::{compare, run, trials, write, write_instances};

const MAIN: &str = r#"
import importlib
import json
import sys
import warnings

warnings.simplefilter("error")

from pydantic import ValidationError


def judge(root, text):
    try:
        read = root.model_validate_json(text)
    except ValidationError:
        read = None
    try:
        root.model_validate(json.loads(text))
        assert read is not None, text
    except ValidationError:
        assert read is None, text
    return "-" if read is None else "+" + read.model_dump_json(exclude_unset=True)


said = []
for line in sys.stdin.buffer.read().decode().split("\n"):
    if line:
        name, text = line.split("\t", 1)
        said.append(judge(importlib.import_module("generated." + name).Root, text))
print("\n".join(said))
"#;

#[test]
fn generated_python_agrees_with_the_contract() {
    let Some(python) = Toolchain::Python.find() else { return say_missing(Toolchain::Python) };
    let trials = trials(Target::Python);
    let folder = tempfile::tempdir().unwrap();
    for trial in &trials {
        write(&folder.path().join(format!("generated/{}.py", trial.name)), &trial.generated.text);
    }
    write(&folder.path().join("main.py"), MAIN);
    let instances = folder.path().join("instances");
    write_instances(&trials, &instances);
    let mut command = Command::new(python);
    command.arg("main.py").current_dir(folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    compare(&trials, &run(command.env("PYTHONIOENCODING", "utf-8"), &instances));
}
