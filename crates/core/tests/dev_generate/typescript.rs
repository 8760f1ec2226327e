//! TypeScript, by its own compiler, with Zod, on Node.

use std::process::Command;

use airtight_core::generate::Target;

use crate::toolchain::{Toolchain, cache, say_missing};
use crate::trial::{compare, run, trials, write, write_instances};

const SETTINGS: &str = r#"{
  "compilerOptions": {
    "strict": true,
    "noUnusedLocals": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "target": "es2022",
    "module": "nodenext",
    "types": [],
    "rootDir": ".",
    "outDir": "out",
    "skipLibCheck": true
  },
  "include": ["*.ts"]
}"#;

const MAIN: &str = r#"
//IMPORTS
declare const process: { stdin: AsyncIterable<Uint8Array>; stdout: { write(text: string): void } };
declare const TextDecoder: new () => { decode(bytes?: Uint8Array, options?: { stream: boolean }): string };
type Reader = { safeParse(value: unknown): { success: boolean; data?: unknown } };
const readers: Map<string, Reader> = new Map<string, Reader>([
  //READERS
]);
const decoder = new TextDecoder();
let text = "";
for await (const bytes of process.stdin) text += decoder.decode(bytes, { stream: true });
let said = "";
for (const line of text.split("\n")) {
  if (line === "") continue;
  const tab = line.indexOf("\t");
  const read = readers.get(line.slice(0, tab))!.safeParse(JSON.parse(line.slice(tab + 1)));
  said += read.success ? `+${JSON.stringify(read.data)}\n` : "-\n";
}
process.stdout.write(said);
"#;

#[test]
fn generated_typescript_agrees_with_the_contract() {
    let Some(tsc) = Toolchain::Typescript.find() else { return say_missing(Toolchain::Typescript) };
    let trials = trials(Target::Typescript);
    let folder = tempfile::tempdir().unwrap();
    let (mut imports, mut readers) = (String::new(), String::new());
    for trial in &trials {
        let (name, root) = (trial.name, &trial.root);
        write(&folder.path().join(format!("{name}.ts")), &trial.generated.text);
        imports.push_str(&format!("import {{ {root} as {name} }} from \"./{name}.js\";\n"));
        readers.push_str(&format!("  [\"{name}\", {name}],\n"));
    }
    let main = MAIN.replace("//IMPORTS", &imports).replace("//READERS", &readers);
    write(&folder.path().join("main.ts"), &main);
    write(&folder.path().join("tsconfig.json"), SETTINGS);
    write(&folder.path().join("package.json"), r#"{ "type": "module" }"#);
    let modules = cache().unwrap().join("node_modules");
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    let instances = folder.path().join("instances");
    write_instances(&trials, &instances);
    run(Command::new(tsc).current_dir(folder.path()), &instances);
    let said = run(Command::new("node").arg("out/main.js").current_dir(folder.path()), &instances);
    compare(&trials, &said);
}
