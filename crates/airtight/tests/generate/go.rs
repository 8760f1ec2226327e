//! Go, with its standard library alone.

use std::process::Command;

use airtight_core::generate::Target;

use crate::contracts::shipped;
use crate::toolchain::{Toolchain, cache, say_missing};
use crate::trial::{compare, run, trials, write, write_instances};

const MAIN: &str = r#"package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

//IMPORTS
)

type validated interface {
	Validate() error
}

func judge[T validated](text string) string {
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return "-"
	}
	if err := value.Validate(); err != nil {
		panic(text + ": " + err.Error())
	}
	written, err := json.Marshal(value)
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return "+" + string(written)
}

func main() {
	reader := bufio.NewReader(os.Stdin)
	writer := bufio.NewWriter(os.Stdout)
	defer writer.Flush()
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch name {
//ARMS
		default:
			panic(name)
		}
	}
}
"#;

#[test]
fn generated_go_agrees_with_the_contract() {
    let Some(go) = Toolchain::Go.find() else { return say_missing(Toolchain::Go) };
    let trials = trials(Target::Go);
    let folder = tempfile::tempdir().unwrap();
    let (mut imports, mut arms) = (String::new(), String::new());
    for trial in &trials {
        let (name, root) = (trial.name, &trial.root);
        write(&folder.path().join(format!("{name}/{name}.go")), &trial.generated.text);
        imports.push_str(&format!("\t{name} \"generated/{name}\"\n"));
        arms.push_str(&format!(
            "\t\tcase \"{name}\":\n\t\t\tfmt.Fprintln(writer, judge[{name}.{root}](text))\n"
        ));
    }
    let main = MAIN.replace("//IMPORTS\n", &imports).replace("//ARMS\n", &arms);
    write(&folder.path().join("main.go"), &main);
    write(&folder.path().join("go.mod"), "module generated\n\ngo 1.19\n");
    let instances = folder.path().join("instances");
    write_instances(&trials, &instances);
    let built = cache().unwrap_or_else(|| folder.path().to_owned()).join("go");
    let go = |arguments: &[&str]| {
        let mut command = Command::new(&go);
        command.args(arguments).current_dir(folder.path()).env("GOCACHE", &built);
        command.env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GOTOOLCHAIN", "local");
        run(&mut command, &instances)
    };
    for name in shipped() {
        let path = folder.path().join(format!("{name}/{name}.go"));
        assert_eq!(run(Command::new("gofmt").arg("-l").arg(&path), &instances), "");
    }
    go(&["vet", "./..."]);
    go(&["build", "-o", "generated", "."]);
    let said = run(&mut Command::new(folder.path().join("generated")), &instances);
    compare(&trials, &said);
}
