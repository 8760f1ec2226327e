use crate::folder::Folder;

#[test]
fn every_shell_gets_a_script_that_names_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = Folder::new().run(&["completions", shell]);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""));
        assert!(said.stdout.contains("validate"), "{shell}");
    }
}

#[test]
fn unknown_shells_are_bad_usage() {
    assert_eq!(Folder::new().run(&["completions", "tcl"]).code, 2);
}
