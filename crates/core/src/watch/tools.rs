//! What each tier may use, and which commands it must not run, unless the configuration says otherwise.
//!
//! Commands are patterns in which `*` is any text. Programs that have their own names for tools get them
//! translated; the lists are the same.

use super::tier::Tier;

/// Something that a session can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TierTool {
    /// Runs commands.
    Shell,
    /// Reads files.
    Read,
    /// Searches in files.
    Grep,
    /// Finds files.
    Glob,
    /// Sends a subagent.
    Task,
    /// Fetches a page.
    WebFetch,
    /// Searches the web.
    WebSearch,
    /// Writes files.
    Write,
    /// Edits files.
    Edit,
}

impl TierTool {
    /// Returns its name in `claude`.
    pub fn claude_name(self) -> &'static str {
        match self {
            Self::Shell => "Bash",
            Self::Read => "Read",
            Self::Grep => "Grep",
            Self::Glob => "Glob",
            Self::Task => "Task",
            Self::WebFetch => "WebFetch",
            Self::WebSearch => "WebSearch",
            Self::Write => "Write",
            Self::Edit => "Edit",
        }
    }

    /// Returns its names in `qwen`.
    pub fn qwen_names(self) -> &'static [&'static str] {
        match self {
            Self::Shell => &["run_shell_command"],
            Self::Read => &["read_file", "list_directory"],
            Self::Grep => &["grep_search"],
            Self::Glob => &["glob"],
            Self::Task => &["agent"],
            Self::WebFetch => &["web_fetch"],
            Self::WebSearch => &["web_search"],
            Self::Write => &["write_file"],
            Self::Edit => &["edit"],
        }
    }

    /// Returns the names of our own tools for it, none where we have none.
    pub fn own_names(self) -> &'static [&'static str] {
        match self {
            Self::Shell => &["run_shell_command"],
            Self::Read => &["read_file", "list_directory"],
            Self::Grep => &["grep"],
            Self::Glob => &["glob"],
            Self::Task => &["agent"],
            Self::WebFetch => &["web_fetch"],
            Self::WebSearch => &[],
            Self::Write => &["write_file"],
            Self::Edit => &["edit"],
        }
    }
}

const OBSERVE: [TierTool; 7] = [
    TierTool::Shell,
    TierTool::Read,
    TierTool::Grep,
    TierTool::Glob,
    TierTool::Task,
    TierTool::WebFetch,
    TierTool::WebSearch,
];

const CHANGE: [TierTool; 9] = [
    TierTool::Shell,
    TierTool::Read,
    TierTool::Grep,
    TierTool::Glob,
    TierTool::Task,
    TierTool::WebFetch,
    TierTool::WebSearch,
    TierTool::Write,
    TierTool::Edit,
];

/// Tier 1 changes nothing. What is known to act on services is denied to it wherever it stands; this list
/// is for what changes anything else, with options before its verb and without. What it may ask of
/// `systemctl` is judged by its words, beside this list.
const OBSERVE_DENIED: [&str; 50] = [
    "docker * restart *",
    "docker * stop *",
    "docker * kill *",
    "docker * rm *",
    "docker volume rm *",
    "docker stack deploy *",
    "docker service update *",
    "podman kill *",
    "podman run *",
    "podman exec *",
    "kubectl * rollout *",
    "kubectl * delete *",
    "kubectl * apply *",
    "kubectl * scale *",
    "kubectl * patch *",
    "kubectl patch *",
    "kubectl * set *",
    "git * push *",
    "docker restart *",
    "docker stop *",
    "docker start *",
    "docker kill *",
    "docker rm *",
    "docker run *",
    "docker exec *",
    "docker compose *",
    "docker-compose *",
    "podman restart *",
    "podman stop *",
    "podman start *",
    "podman rm *",
    "systemctl restart *",
    "systemctl stop *",
    "systemctl start *",
    "systemctl kill *",
    "service * restart",
    "service * stop",
    "service * start",
    "ansible *",
    "ansible-playbook *",
    "helm *",
    "kubectl rollout *",
    "kubectl delete *",
    "kubectl apply *",
    "kubectl scale *",
    "gh pr create *",
    "gh pr merge *",
    "git push *",
    "git commit *",
    "apprise *",
];

/// Tier 2 does what can be undone at once.
const INVESTIGATE_DENIED: [&str; 12] = [
    "kubectl * delete *",
    "docker volume rm *",
    "docker stack rm *",
    "ansible *",
    "ansible-playbook *",
    "helm *",
    "docker compose * down *",
    "docker compose down *",
    "docker-compose * down *",
    "docker-compose down *",
    "kubectl delete *",
    "gh pr merge *",
];

/// Nobody does what cannot be undone. How `rm` is written is judged by its words, beside this list.
const REMEDIATE_DENIED: [&str; 23] = [
    "rm -rf /",
    "rm -fr /",
    "docker system prune *",
    "docker volume prune *",
    "docker * system prune *",
    "docker * volume prune *",
    "podman system prune *",
    "podman volume prune *",
    "git push --force*",
    "git push * --force*",
    "git * push --force*",
    "git * push * --force*",
    "git push -f *",
    "git push * -f *",
    "git * push -f *",
    "git * push * -f *",
    "git push +*",
    "git push * +*",
    "git * push +*",
    "git * push * +*",
    "gh pr merge *",
    "gh * pr merge *",
    "gh pr * merge *",
];

/// Returns what a tier may use.
pub fn default_tools(tier: Tier) -> &'static [TierTool] {
    match tier {
        Tier::Observe => &OBSERVE,
        Tier::Investigate | Tier::Remediate => &CHANGE,
    }
}

/// Returns the commands that a tier must not run: its own list, and that of every tier above.
pub fn denied_commands(tier: Tier) -> Vec<&'static str> {
    let own = |tier: &Tier| match tier {
        Tier::Observe => OBSERVE_DENIED.as_slice(),
        Tier::Investigate => INVESTIGATE_DENIED.as_slice(),
        Tier::Remediate => REMEDIATE_DENIED.as_slice(),
    };
    let mut denied: Vec<&str> = Vec::new();
    for command in Tier::ALL.iter().filter(|it| **it >= tier).flat_map(own) {
        if !denied.contains(command) {
            denied.push(command);
        }
    }
    denied
}

/// Returns what counts for a tier: its own settings, else those of tier 1, else those for all, else what
/// is built in.
pub fn settings_for<'s, T: ?Sized>(
    tier: Tier,
    own: impl Fn(Tier) -> Option<&'s T>,
    global: Option<&'s T>,
    built_in: &'s T,
) -> &'s T {
    own(tier).or_else(|| own(Tier::Observe)).or(global).unwrap_or(built_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-8: tier 1 reads, tiers 2 and 3 also write.
    #[test]
    fn co_8_each_tier_has_its_tools() {
        let names =
            |tier| default_tools(tier).iter().map(|it| it.claude_name()).collect::<Vec<_>>();
        let reading = ["Bash", "Read", "Grep", "Glob", "Task", "WebFetch", "WebSearch"];
        assert_eq!(names(Tier::Observe), reading);
        let writing = [&reading[..], &["Write", "Edit"]].concat();
        assert_eq!(names(Tier::Investigate), writing);
        assert_eq!(names(Tier::Remediate), writing);
    }

    /// CO-8: what a tier must not run, every tier below it must not either.
    #[test]
    fn co_8_a_lower_tier_is_denied_more() {
        let [observe, investigate, remediate] = Tier::ALL.map(denied_commands);
        assert!(investigate.iter().all(|it| observe.contains(it)));
        assert!(remediate.iter().all(|it| investigate.contains(it)));
        assert!(
            observe.contains(&"docker restart *") && !investigate.contains(&"docker restart *")
        );
        assert!(investigate.contains(&"helm *") && !remediate.contains(&"helm *"));
        for tier in [&observe, &investigate, &remediate] {
            assert!(
                ["git push --force*", "gh pr merge *", "rm -rf /"]
                    .iter()
                    .all(|it| tier.contains(it))
            );
        }
    }

    /// CO-8: its own settings, else tier 1's, else those for all, else what is built in.
    #[test]
    fn co_8_settings_of_a_tier_fall_back() {
        let own = |tier: Tier| match tier {
            Tier::Observe => Some("one"),
            Tier::Remediate => Some("three"),
            Tier::Investigate => None,
        };
        let none = |_: Tier| None;
        assert_eq!(settings_for(Tier::Remediate, own, Some("all"), "built in"), "three");
        assert_eq!(settings_for(Tier::Investigate, own, Some("all"), "built in"), "one");
        assert_eq!(settings_for(Tier::Investigate, none, Some("all"), "built in"), "all");
        assert_eq!(settings_for(Tier::Investigate, none, None, "built in"), "built in");
    }
}
