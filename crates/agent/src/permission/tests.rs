//! The table of who may call what.

use airtight_core::run::Terminal;
use airtight_core::shell;
use test_case::test_case;

use super::{ApprovalMode, Permissions, Rule, Subject, Visibility, wildcard};
use crate::toolbox::Effect;

fn rules(list: &str) -> Vec<Rule> {
    list.split_terminator('\u{1f}').map(|rule| rule.parse().unwrap()).collect()
}

fn permissions(mode: &str, allow: &[&str], exclude: &[&str]) -> Permissions {
    let parse = |list: &[&str]| rules(&list.join("\u{1f}"));
    Permissions::new(mode.parse().unwrap()).allow(parse(allow)).exclude(parse(exclude))
}

#[test_case("plan", [true, false, false, false])]
#[test_case("default", [true, false, false, false])]
#[test_case("auto-edit", [true, true, false, false])]
#[test_case("yolo", [true, true, true, true])]
fn a_mode_allows_without_a_word(mode: &str, expected: [bool; 4]) {
    let permissions = permissions(mode, &[], &[]);
    let effects = [Effect::Reads, Effect::Edits, Effect::Executes, Effect::Fetches];
    let decided = effects.map(|effect| permissions.decide("tool", effect, None).is_ok());
    let shown = effects.map(|effect| permissions.visibility("tool", effect) == Visibility::Shown);
    assert_eq!((decided, shown), (expected, expected));
}

#[test_case("plan", [true, false, false, true])]
#[test_case("default", [true, true, true, true])]
#[test_case("auto-edit", [true, true, true, true])]
fn a_rule_allows_more_but_no_change_in_a_plan(mode: &str, expected: [bool; 4]) {
    let permissions = permissions(mode, &["tool"], &[]);
    let effects = [Effect::Reads, Effect::Edits, Effect::Executes, Effect::Fetches];
    assert_eq!(effects.map(|effect| permissions.decide("tool", effect, None).is_ok()), expected);
}

#[test_case("careful" => false)]
#[test_case("YOLO" => false)]
#[test_case("auto-edit" => true)]
fn a_mode_has_one_spelling(name: &str) -> bool {
    name.parse::<ApprovalMode>().is_ok()
}

fn allows_command(rule: &str, text: &str) -> bool {
    let subject = Subject::Command(text.to_owned());
    permissions("default", &[rule], &[])
        .decide("run_shell_command", Effect::Executes, Some(&subject))
        .is_ok()
}

#[test_case("git diff" => true)]
#[test_case("git diff HEAD~1 -- src" => true)]
#[test_case("  git   diff\tHEAD " => true; "spaces do not matter")]
#[test_case("git \"diff\" 'a b'" => true; "quotes do not matter")]
#[test_case("git diff 'a; rm -rf x'" => true; "a quoted separator is text")]
#[test_case("git diff \"$HOME\" $X" => true; "plain variables are words")]
#[test_case("git diff && git diff HEAD; git diff | git diff" => true; "every part matches")]
#[test_case("git diff \\\n  HEAD" => true; "a hidden line break")]
#[test_case("git diff 2>&1" => true; "harmless redirection")]
#[test_case("git diff 2>/dev/null | git diff" => true; "harmless redirection in a chain")]
#[test_case("git difftool" => false)]
#[test_case("git" => false)]
#[test_case("rm x" => false)]
#[test_case("'git diff' x" => false; "one word is not two")]
#[test_case("git 'diff x'" => false; "nor half of one")]
#[test_case("git diff; rm x" => false)]
#[test_case("git diff && rm x" => false)]
#[test_case("git diff || rm x" => false)]
#[test_case("git diff | sh" => false)]
#[test_case("git diff |& sh" => false)]
#[test_case("git diff & rm x" => false)]
#[test_case("git diff\nrm x" => false; "line break")]
#[test_case("git diff `rm x`" => false)]
#[test_case("git diff $(rm x)" => false)]
#[test_case("git diff \"$(rm x)\"" => false; "substitution in quotes")]
#[test_case("git diff \"`rm x`\"" => false; "backticks in quotes")]
#[test_case("git diff ${X:-$(rm x)}" => false; "expansion")]
#[test_case("git diff $'\\'; rm x #'" => false; "another kind of quotes")]
#[test_case("git diff <(rm x)" => false)]
#[test_case("git diff > ~/.bashrc" => false)]
#[test_case("git diff >> x" => false)]
#[test_case("git diff 2>x" => false)]
#[test_case("git diff >/dev/nullx" => false; "a longer name")]
#[test_case("git diff 2>&1&& rm x" => false; "a separator behind a redirection")]
#[test_case("git diff < /etc/passwd" => false)]
#[test_case("git diff <<X\n`rm x`\nX" => false)]
#[test_case("(git diff; rm x)" => false)]
#[test_case("git diff # '\nrm x\n#'" => false; "a quote in a comment")]
#[test_case("git diff 'open" => false)]
#[test_case("git diff \"open" => false; "open double quotes")]
#[test_case("PAGER='rm x' git diff" => false; "a variable for the command")]
#[test_case("PAGER=x; git diff" => false; "a variable for the shell")]
#[test_case("! git diff" => false)]
#[test_case("if git diff; then git diff; fi" => false; "keywords are not commands")]
#[test_case("git() { rm x; }; git diff" => false)]
#[test_case("sudo git diff" => false)]
#[test_case("" => false; "nothing")]
#[test_case(" ; " => false; "nothing at all")]
fn an_allowance_of_git_diff_allows(text: &str) -> bool {
    allows_command("run_shell_command(git diff *)", text)
}

#[test]
fn a_bare_allowance_allows_any_command() {
    assert!(allows_command("run_shell_command", "echo $(date) > x; (rm y)"));
    assert!(allows_command("run_shell_command(*)", "echo $(date) > x; (rm y)"));
}

#[test]
fn the_parts_of_a_chain_may_be_allowed_by_different_rules() {
    let both =
        permissions("default", &["run_shell_command(ls *)", "run_shell_command(wc -l)"], &[]);
    let chain = Subject::Command("ls src | wc -l".to_owned());
    assert_eq!(both.decide("run_shell_command", Effect::Executes, Some(&chain)), Ok(()));
}

#[test_case("git push" => true)]
#[test_case("git push origin main" => true)]
#[test_case("git status && git push" => true)]
#[test_case("git status; (git push)" => true)]
#[test_case("echo $(git push)" => true)]
#[test_case("echo `git push`" => true)]
#[test_case("g'i't \"push\"" => true; "quotes hide nothing")]
#[test_case("g\\it pu\\\nsh" => true; "backslashes hide nothing")]
#[test_case("/usr/bin/git push" => true; "a path hides nothing")]
#[test_case("sudo env X=1 git push" => true; "a prefix hides nothing")]
#[test_case("sh -c 'git push'" => true; "another shell hides nothing")]
#[test_case("git status\ngit push" => true; "a line hides nothing")]
#[test_case("git pull" => false)]
#[test_case("git status" => false)]
fn an_exclusion_of_git_push_excludes(text: &str) -> bool {
    let subject = Subject::Command(text.to_owned());
    permissions("yolo", &["run_shell_command"], &["run_shell_command(git push *)"])
        .decide("run_shell_command", Effect::Executes, Some(&subject))
        .is_err()
}

#[test_case("src/a.rs" => true)]
#[test_case("src/deep/a.rs" => true)]
#[test_case("src" => true; "the folder itself")]
#[test_case("srcs/a.rs" => false)]
#[test_case("other/src/a.rs" => false)]
#[test_case("../src/a.rs" => false)]
fn a_path_pattern_covers(path: &str) -> bool {
    let subject = Subject::Path(path.to_owned());
    let decide = |rule: &str| {
        permissions("default", &[rule], &[]).decide("edit", Effect::Edits, Some(&subject)).is_ok()
    };
    assert_eq!(decide("edit(src/**)"), decide("edit(./src/**)"));
    decide("edit(src/**)")
}

#[test_case("https://docs.rs/a/b" => true)]
#[test_case("https://docs.rs.evil.example/" => false)]
#[test_case("http://docs.rs/a" => false)]
#[test_case("https://evil.example/https://docs.rs/" => false)]
fn a_url_pattern_covers(url: &str) -> bool {
    let subject = Subject::Url(url.to_owned());
    permissions("default", &["web_fetch(https://docs.rs/*)"], &[])
        .decide("web_fetch", Effect::Fetches, Some(&subject))
        .is_ok()
}

#[test_case("https://docs.rs/a/b" => true)]
#[test_case("http://docs.rs:8080/" => true)]
#[test_case("https://evil.example/docs.rs" => false)]
#[test_case("https://docs.rs@evil.example/" => false)]
fn a_pattern_without_a_scheme_covers_a_host(url: &str) -> bool {
    let subject = Subject::Url(url.to_owned());
    permissions("default", &["web_fetch(docs.rs)"], &[])
        .decide("web_fetch", Effect::Fetches, Some(&subject))
        .is_ok()
}

#[test_case("web_fetch(evil.example)")]
#[test_case("web_fetch(https://evil.example/*)")]
#[test_case("web_fetch(evil.example.)")]
fn a_dot_behind_a_host_does_not_hide_it(rule: &str) {
    let subject = Subject::Url("https://evil.example./a".to_owned());
    let decided =
        permissions("yolo", &[], &[rule]).decide("web_fetch", Effect::Fetches, Some(&subject));
    assert!(decided.is_err());
}

#[test]
fn an_exclusion_wins_over_everything() {
    let all = permissions("yolo", &["edit"], &["edit"]).core_tools(rules("edit"));
    assert!(all.decide("edit", Effect::Edits, None).is_err());
    assert_eq!(all.visibility("edit", Effect::Edits), Visibility::Hidden);
}

#[test]
fn an_exclusion_with_a_pattern_leaves_the_tool_visible() {
    let some = permissions("yolo", &[], &["edit(secret/**)"]);
    let at = |path: &str| some.decide("edit", Effect::Edits, Some(&Subject::Path(path.to_owned())));
    assert_eq!(some.visibility("edit", Effect::Edits), Visibility::Shown);
    assert!(at("secret/x").is_err() && at("open/x").is_ok());
}

#[test]
fn a_pattern_without_a_subject_excludes_and_never_allows() {
    let allowed = permissions("default", &["mcp__x__y(z)"], &[]);
    let excluded = permissions("yolo", &[], &["mcp__x__y(z)"]);
    assert!(allowed.decide("mcp__x__y", Effect::Executes, None).is_err());
    assert!(excluded.decide("mcp__x__y", Effect::Executes, None).is_err());
}

#[test]
fn a_name_may_hold_wildcards() {
    let one = permissions("default", &["mcp__docs__*"], &["mcp__docs__delete_*"]);
    let decide = |tool: &str| one.decide(tool, Effect::Executes, None).is_ok();
    assert!(decide("mcp__docs__search"));
    assert!(!decide("mcp__docs__delete_page"));
    assert!(!decide("mcp__other__search"));
}

#[test]
fn core_tools_are_the_only_tools() {
    let core = permissions("yolo", &[], &[]).core_tools(rules("grep\u{1f}run_shell_command(ls *)"));
    let run = |text: &str| {
        let subject = Subject::Command(text.to_owned());
        core.decide("run_shell_command", Effect::Executes, Some(&subject)).is_ok()
    };
    assert_eq!(core.visibility("grep", Effect::Reads), Visibility::Shown);
    assert_eq!(core.visibility("glob", Effect::Reads), Visibility::Hidden);
    assert_eq!(core.visibility("mcp__a__b", Effect::Executes), Visibility::Hidden);
    assert!(run("ls src") && !run("rm x"));
}

#[test_case(&["structured_output"] => Terminal::Denied)]
#[test_case(&["structured_*"] => Terminal::Denied)]
#[test_case(&["*"] => Terminal::Offered; "all ordinary tools")]
#[test_case(&["mcp__x__structured_output"] => Terminal::Offered)]
#[test_case(&[] => Terminal::Offered)]
fn the_terminal_tool_yields_to_an_explicit_exclusion_alone(exclude: &[&str]) -> Terminal {
    permissions("default", &[], exclude).core_tools(rules("grep")).terminal()
}

#[test]
fn a_rule_that_names_no_tool_is_found() {
    let misspelt =
        permissions("default", &["grep", "structured_output"], &["run_shel_command(rm *)"]);
    let names = ["grep".to_owned(), "run_shell_command".to_owned()];
    let found: Vec<String> = misspelt.unmatched(&names).map(ToString::to_string).collect();
    assert_eq!(found, ["run_shel_command(rm *)"]);
}

#[test_case("")]
#[test_case("(x)")]
#[test_case("a b")]
#[test_case("edit(")]
#[test_case("edit()")]
#[test_case("edit(x) y")]
#[test_case("edit([)")]
fn a_rule_that_cannot_be_read_is_refused(text: &str) {
    assert!(text.parse::<Rule>().is_err());
}

#[test_case("*", "" => true)]
#[test_case("a*", "a" => true)]
#[test_case("a*b*c", "aXbYc" => true)]
#[test_case("a*b*c", "acb" => false)]
#[test_case("a*a", "a" => false; "the ends do not overlap")]
#[test_case("a", "ab" => false)]
#[test_case("*b", "abb" => true)]
fn a_wildcard_is_any_text(pattern: &str, text: &str) -> bool {
    wildcard::matches(pattern, text)
}

#[test]
fn words_are_quoted_where_they_could_be_mistaken() {
    let parts = shell::simple_commands("a 'b c' d\\'e ''; \"f\\\"g\" $h").unwrap();
    assert_eq!(parts, ["a 'b c' 'd'\\''e' ''", "'f\"g' $h"]);
}
