//! The commands that a tier must not run, whatever runs them.

use std::str::FromStr as _;

use airtight_agent::{ApprovalMode, Permissions, Rule};
use airtight_watch::SHELL;

use crate::error::{Error, Outcome};

/// Returns who denies these commands, whatever runs them.
pub(super) fn denied(commands: &[String]) -> Result<Permissions, Error> {
    let rule = |command: &String| {
        Rule::from_str(&format!("{SHELL}({command})")).map_err(|error| {
            Error::new(Outcome::Contract, "`deny` of a tier cannot be read").caused_by(error)
        })
    };
    let rules: Vec<Rule> = commands.iter().map(rule).collect::<Result<_, _>>()?;
    Ok(Permissions::new(ApprovalMode::Yolo).exclude(rules))
}

#[cfg(test)]
mod tests {
    use airtight_agent::{Effect, Subject};
    use airtight_core::watch::{Tier, denied_commands};

    use super::*;

    /// Commands, and the highest tier that must not run them; 0 if every tier may.
    const COMMANDS: [(&str, u8); 41] = [
        ("docker ps", 0),
        ("docker logs web", 0),
        ("systemctl status nginx", 0),
        ("kubectl get pods", 0),
        ("git log --oneline", 0),
        ("curl -s http://127.0.0.1/", 0),
        ("docker restart web", 1),
        ("docker --context prod restart web", 1),
        ("docker stop web", 1),
        ("docker start web", 1),
        ("docker kill web", 1),
        ("docker --context prod kill web", 1),
        ("docker rm web", 1),
        ("docker run alpine true", 1),
        ("docker exec web true", 1),
        ("docker compose up -d", 1),
        ("docker-compose restart web", 1),
        ("docker stack deploy -c a.yml a", 1),
        ("docker service update web", 1),
        ("podman restart web", 1),
        ("podman kill web", 1),
        ("podman exec web true", 1),
        ("systemctl restart nginx", 1),
        ("service nginx restart", 1),
        ("kubectl rollout restart deploy/web", 1),
        ("kubectl -n shop rollout restart deploy/web", 1),
        ("kubectl patch deploy web", 1),
        ("kubectl -n shop set image deploy/web a=b", 1),
        ("git commit -m x", 1),
        ("git -C repo push origin main", 1),
        ("gh pr create --fill", 1),
        ("apprise -b hello", 1),
        ("ansible-playbook site.yml", 2),
        ("helm upgrade web ./web", 2),
        ("docker compose down -v", 2),
        ("docker volume rm data", 2),
        ("kubectl -n shop delete pod web", 2),
        ("docker --context prod system prune -af", 3),
        ("rm -rf /", 3),
        ("git push --force origin main", 3),
        ("git -C repo push origin +main", 3),
    ];

    fn must_not(tier: Tier, command: &str) -> bool {
        let commands: Vec<String> = denied_commands(tier).into_iter().map(str::to_owned).collect();
        let subject = Subject::Command(command.to_owned());
        denied(&commands).unwrap().decide(SHELL, Effect::Executes, Some(&subject)).is_err()
    }

    /// CO-8: what each tier must not run by the lists that are built in, options before the verb included.
    #[test]
    fn co_8_what_changes_something_is_denied_by_its_tier() {
        for (command, highest) in COMMANDS {
            for tier in Tier::ALL {
                let expected = tier.number() <= highest;
                assert_eq!(must_not(tier, command), expected, "{tier}: {command}");
            }
        }
    }

    /// CO-8: a command in a line with others is denied with them.
    #[test]
    fn co_8_what_is_denied_is_denied_among_others() {
        for command in ["ls; docker rm web", "ls && docker rm web", "true | docker rm web"] {
            assert!(must_not(Tier::Observe, command), "{command}");
        }
    }
}
