//! Rust, by the compiler of the workspace, with the serde that the workspace has.

use std::path::Path;
use std::process::Command;

use airtight_core::generate::Target;

use crate::contracts::shipped;
use crate::toolchain::cache;
use crate::trial::{compare, run, trials, write, write_instances};

const MANIFEST: &str = r#"
[package]
name = "generated"
version = "0.0.0"
edition = "2024"

[dependencies]
serde = { version = "1", features = ["derive"] }
serde_json = "1"

[profile.dev]
debug = false

[workspace]
"#;

const MAIN: &str = r#"
use std::io::BufRead;

fn judge<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) {
    match serde_json::from_str::<T>(text) {
        Ok(value) => println!("+{}", serde_json::to_string(&value).unwrap()),
        Err(_) => println!("-"),
    }
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (name, text) = line.split_once('\t').unwrap();
        match name {
            //ARMS
            other => panic!("{other}"),
        }
    }
}
"#;

/// What people generate is formatted with the rest of their code, and must stay what it is.
fn check_form(sources: &Path) {
    for name in shipped() {
        let path = sources.join(format!("{name}.rs"));
        run(Command::new("rustfmt").args(["--check", "--edition", "2024"]).arg(&path), &path);
    }
}

#[test]
fn generated_rust_agrees_with_the_contract() {
    let trials = trials(Target::Rust);
    let folder = tempfile::tempdir().unwrap();
    let (mut modules, mut arms) = ("#![deny(warnings)]\n".to_owned(), String::new());
    for trial in &trials {
        let (name, root) = (trial.name, &trial.root);
        write(&folder.path().join(format!("src/{name}.rs")), &trial.generated.text);
        modules.push_str(&format!("pub mod {name};\n"));
        arms.push_str(&format!("\"{name}\" => judge::<generated::{name}::{root}>(text),\n"));
    }
    write(&folder.path().join("Cargo.toml"), MANIFEST);
    write(&folder.path().join("src/lib.rs"), &modules);
    write(&folder.path().join("src/main.rs"), &MAIN.replace("//ARMS", &arms));
    let instances = folder.path().join("instances");
    write_instances(&trials, &instances);
    check_form(&folder.path().join("src"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = cache().unwrap_or_else(|| folder.path().to_owned()).join("target");
    let said = run(
        Command::new(cargo)
            .args(["run", "--quiet", "--offline"])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", built)
            .env_remove("RUSTFLAGS"),
        &instances,
    );
    compare(&trials, &said);
}
