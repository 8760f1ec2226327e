use crate::folder::Folder;

#[test]
fn weights_that_are_not_here_are_listed_and_nowhere() {
    let folder = Folder::new();
    let said = folder.run(&["models", "list"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "smollm2-135m  98 MB  not here  SmolLM2-135M-Instruct, Q4_1, Apache-2.0\n")
    );
    let said = folder.run(&["models", "path"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.contains("hint: type `airtight models pull smollm2-135m`"), "{said:?}");
    assert_eq!(folder.run(&["models", "remove"]).code, 1);
}

#[test]
fn unknown_weights_are_refused() {
    for action in ["pull", "path", "remove"] {
        let said = Folder::new().run(&["models", action, "gpt-9"]);
        assert_eq!((said.code, said.stdout.as_str()), (52, ""), "{action}");
        assert!(said.stderr.contains("no such weights: `gpt-9`"), "{said:?}");
    }
}
