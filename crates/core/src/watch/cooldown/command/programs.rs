//! The programs that act on services, each with its grammar: where its verb stands, which options
//! take a value, and what it calls a service.

use super::CooldownAction;
use super::options::{
    COMPOSE_VALUES, DOCKER_VALUES, HELM_VALUES, KUBECTL_VALUES, PKILL_VALUES, SYSTEMCTL_VALUES,
};
use super::text::is_text;
use crate::shell::{Operands, behind_prefixes, program_name, programs};

/// The program by which people decide about sessions.
const OWN_PROGRAM: &str = "airtight";

/// Commands of it by which somebody decides, or answers for a session.
const OWN_COMMANDS: [&str; 4] = ["watch", "runs", "serve", "worker"];

/// Programs that end everything on a machine.
const HALTS: [&str; 6] = ["reboot", "shutdown", "poweroff", "halt", "telinit", "init"];

/// What asks them for nothing, or calls it off.
const HALTS_NOTHING: [&str; 4] = ["-c", "-k", "--help", "--version"];

/// Signals that a service survives, as `pkill` and `killall` write them.
const SURVIVED: [&str; 12] = [
    "-0", "-1", "-HUP", "-SIGHUP", "-USR1", "-SIGUSR1", "-USR2", "-SIGUSR2", "-CONT", "-l", "-L",
    "--list",
];

/// What some words do to services; none are named if it is to all of them, or to one that is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) action: CooldownAction,
    pub(super) services: Vec<String>,
}

impl Act {
    fn on(action: CooldownAction, services: &[String]) -> Self {
        Self { action, services: services.to_vec() }
    }

    /// On all services, or on one that is not told.
    fn unnamed(action: CooldownAction) -> Self {
        Self { action, services: Vec::new() }
    }
}

/// Returns the part of a command that starts this very program.
pub(super) fn own(words: &[String]) -> Option<&[String]> {
    let is_own = |word: &String| program_name(word) == OWN_PROGRAM;
    let mut places = programs(words).into_iter();
    if let Some(place) = places.find(|place| place.first().is_some_and(is_own)) {
        return Some(place);
    }
    // Whatever stands before it may run it, if it looks like a call.
    let place = words.get(words.iter().position(is_own)?..)?;
    let command = place.iter().skip(1).find(|word| !word.starts_with('-'))?;
    let is_call = OWN_COMMANDS.contains(&command.as_str()) && !is_text(behind_prefixes(words));
    is_call.then_some(place)
}

/// Returns the part of a command that ends everything on its machine.
pub(super) fn halts(words: &[String]) -> Option<&[String]> {
    programs(words).into_iter().find(|place| {
        let Some((program, arguments)) = place.split_first() else { return false };
        let is_level = |word: &String| matches!(word.as_str(), "0" | "1" | "6");
        match program_name(program) {
            "init" | "telinit" => arguments.first().is_some_and(is_level),
            name => {
                let is_nothing = |word: &String| HALTS_NOTHING.contains(&word.as_str());
                HALTS.contains(&name) && !arguments.iter().any(is_nothing)
            }
        }
    })
}

/// Returns what `words`, a program and its arguments, do to services.
pub(super) fn act(words: &[String]) -> Option<Act> {
    let (program, arguments) = words.split_first()?;
    match program_name(program) {
        "docker" | "podman" | "nerdctl" => docker(arguments),
        "docker-compose" | "podman-compose" => compose(arguments),
        "systemctl" => systemctl(arguments),
        "service" | "rc-service" => sysv(arguments),
        name if program.contains("/init.d/") => script(name, arguments),
        "supervisorctl" | "pm2" => plain(arguments),
        "pkill" | "killall" => signal(arguments),
        "ansible-playbook" => ansible(arguments),
        "helm" => helm(arguments),
        "kubectl" | "oc" => kubectl(arguments),
        _ => None,
    }
}

/// Returns what the operands of a program do, in the first way of reading them that acts. A reading that is
/// not the most likely one must name a service.
fn first_act(
    arguments: &[String],
    with_value: &[&str],
    read: impl Fn(&[String]) -> Option<Act>,
) -> Option<Act> {
    let operands = Operands::of(arguments, with_value);
    let likely = read(operands.all());
    likely.or_else(|| {
        let mut others = operands.readings().skip(1);
        others.find_map(|operands| read(operands).filter(|act| !act.services.is_empty()))
    })
}

/// Returns what a verb that most programs share does.
fn verb(word: &str) -> Option<CooldownAction> {
    match word {
        "restart"
        | "try-restart"
        | "condrestart"
        | "reload"
        | "force-reload"
        | "reload-or-restart"
        | "reload-or-try-restart"
        | "try-reload-or-restart" => Some(CooldownAction::Restart),
        "stop" | "kill" => Some(CooldownAction::Stop),
        "start" => Some(CooldownAction::Start),
        _ => None,
    }
}

fn docker(arguments: &[String]) -> Option<Act> {
    if let Some(position) = arguments.iter().position(|word| word == "compose") {
        let before = Operands::of(arguments.get(..position)?, &DOCKER_VALUES);
        if before.readings().any(<[String]>::is_empty) {
            return compose(arguments.get(position + 1..)?);
        }
    }
    let mut act = first_act(arguments, &DOCKER_VALUES, |operands| {
        let (word, rest) = operands.split_first()?;
        match word.as_str() {
            "stack" => stack(rest),
            "service" => swarm(rest),
            "container" => container(rest, arguments),
            _ => container(operands, arguments),
        }
    })?;
    for service in &mut act.services {
        // The daemon calls `web` `/web`.
        let bare = service.trim_start_matches('/').to_owned();
        *service = bare;
    }
    Some(act)
}

/// Reads `VERB NAME …`, the operands among `arguments`.
fn container(operands: &[String], arguments: &[String]) -> Option<Act> {
    let (word, services) = operands.split_first()?;
    let is_force = |it: &String| matches!(it.as_str(), "-f" | "--force" | "-fv" | "-vf");
    let action = match word.as_str() {
        // A container that runs is stopped by it.
        "rm" if arguments.iter().any(is_force) => CooldownAction::Stop,
        "pause" => CooldownAction::Stop,
        "unpause" => CooldownAction::Start,
        word => verb(word)?,
    };
    Some(Act::on(action, services))
}

/// Reads `stack deploy NAME` and `stack rm NAME …`.
fn stack(words: &[String]) -> Option<Act> {
    let (word, rest) = words.split_first()?;
    match word.as_str() {
        // What is before the name are the values of options.
        "deploy" | "up" => Some(Act::on(CooldownAction::Redeployment, last(rest))),
        "rm" | "remove" | "down" => Some(Act::on(CooldownAction::Stop, rest)),
        _ => None,
    }
}

/// Reads `service update NAME`, `service rm NAME …` and `service scale NAME=NUMBER …`.
fn swarm(words: &[String]) -> Option<Act> {
    let (word, rest) = words.split_first()?;
    match word.as_str() {
        "update" | "rollback" => Some(Act::on(CooldownAction::Redeployment, last(rest))),
        "rm" | "remove" => Some(Act::on(CooldownAction::Stop, rest)),
        "scale" => Some(scale(rest)),
        _ => None,
    }
}

fn last(words: &[String]) -> &[String] {
    words.get(words.len().saturating_sub(1)..).unwrap_or_default()
}

/// Reads `NAME=NUMBER …`: none left is a stop.
fn scale(words: &[String]) -> Act {
    let is_stop = words.iter().any(|word| word.ends_with("=0"));
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    Act {
        action: if is_stop { CooldownAction::Stop } else { CooldownAction::Start },
        services: words.iter().map(name).collect(),
    }
}

fn compose(arguments: &[String]) -> Option<Act> {
    first_act(arguments, &COMPOSE_VALUES, |operands| {
        let (word, services) = operands.split_first()?;
        let action = match word.as_str() {
            "up" => CooldownAction::Restart,
            "down" | "rm" | "pause" => CooldownAction::Stop,
            "unpause" => CooldownAction::Start,
            "scale" => return Some(scale(services)),
            word => verb(word)?,
        };
        Some(Act::on(action, services))
    })
}

fn systemctl(arguments: &[String]) -> Option<Act> {
    let is_now = arguments.iter().any(|word| word == "--now");
    let mut act = first_act(arguments, &SYSTEMCTL_VALUES, |operands| {
        let (word, units) = operands.split_first()?;
        let action = match word.as_str() {
            // It keeps the service running.
            "reload" => return None,
            "disable" | "mask" if is_now => CooldownAction::Stop,
            "enable" | "reenable" if is_now => CooldownAction::Start,
            "freeze" => CooldownAction::Stop,
            "thaw" => CooldownAction::Start,
            "reboot" | "soft-reboot" | "kexec" => {
                return Some(Act::unnamed(CooldownAction::Restart));
            }
            "isolate" | "poweroff" | "halt" | "rescue" | "emergency" | "suspend" | "hibernate" => {
                return Some(Act::unnamed(CooldownAction::Stop));
            }
            word => verb(word)?,
        };
        Some(Act::on(action, units))
    })?;
    for unit in &mut act.services {
        let name = unit.trim_end_matches(".service").to_owned();
        *unit = name;
    }
    Some(act)
}

/// Reads `pkill NAME` and `killall NAME …`; nothing is named where a pattern is.
fn signal(arguments: &[String]) -> Option<Act> {
    let is_survived = arguments.iter().any(|word| SURVIVED.contains(&word.as_str()));
    if arguments.is_empty() || is_survived {
        return None;
    }
    let operands = Operands::of(arguments, &PKILL_VALUES);
    Some(Act::on(CooldownAction::Stop, operands.all()))
}

/// Reads `service NAME VERB`.
fn sysv(arguments: &[String]) -> Option<Act> {
    first_act(arguments, &[], |operands| match operands {
        [name, word, ..] => script(name, std::slice::from_ref(word)),
        _ => None,
    })
}

/// Reads the arguments of the start script of `name`.
fn script(name: &str, arguments: &[String]) -> Option<Act> {
    let word = arguments.first().filter(|word| *word != "reload")?;
    Some(Act { action: verb(word)?, services: vec![name.to_owned()] })
}

/// Reads `VERB NAME …`.
fn plain(arguments: &[String]) -> Option<Act> {
    first_act(arguments, &[], |operands| {
        let (word, services) = operands.split_first()?;
        Some(Act::on(verb(word)?, services))
    })
}

/// Reads `redeploy-NAME` in any argument: a playbook, a tag, a limit.
fn ansible(arguments: &[String]) -> Option<Act> {
    if !arguments.iter().any(|word| word.contains("redeploy")) {
        return None;
    }
    let named = arguments.iter().filter_map(|word| word.split_once("redeploy-"));
    let service = |text: &str| {
        let text = text.trim_end_matches(".yml").trim_end_matches(".yaml");
        let is_name = |next: char| next.is_ascii_alphanumeric() || "_-.$".contains(next);
        let end = text.find(|next| !is_name(next)).unwrap_or(text.len());
        text.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    let mut services: Vec<String> = named.filter_map(|(_, behind)| service(behind)).collect();
    services.dedup();
    Some(Act { action: CooldownAction::Redeployment, services })
}

fn helm(arguments: &[String]) -> Option<Act> {
    first_act(arguments, &HELM_VALUES, |operands| {
        let (word, rest) = operands.split_first()?;
        let (action, most) = match word.as_str() {
            "upgrade" | "rollback" | "install" => (CooldownAction::Redeployment, 1),
            "uninstall" | "delete" | "del" | "un" => (CooldownAction::Stop, rest.len()),
            _ => return None,
        };
        Some(Act { action, services: rest.iter().take(most).cloned().collect() })
    })
}

/// Claims that a kind, or a resource with its kind, is something that runs.
fn is_workload(kind: &str) -> bool {
    ["deploy", "statefulset", "sts", "daemonset", "ds", "replicaset", "rs"]
        .iter()
        .any(|known| kind.starts_with(known))
}

/// Reads the one resource of `set image KIND/NAME …` and `set image KIND NAME …`.
fn set(operands: &[String]) -> Vec<String> {
    let resource = operands.get(2).and_then(|it| it.split_once('/')).map(|(_, name)| name);
    resource.or(operands.get(3).map(String::as_str)).map(str::to_owned).into_iter().collect()
}

/// Reads `rollout restart KIND/NAME …` and `rollout restart KIND NAME …`, and so `scale` and `delete`.
fn kubectl(arguments: &[String]) -> Option<Act> {
    first_act(arguments, &KUBECTL_VALUES, |operands| resources(operands, arguments))
}

fn resources(operands: &[String], arguments: &[String]) -> Option<Act> {
    let is_none = || arguments.windows(2).any(|pair| pair == ["--replicas", "0"]);
    // A verb and a kind are the first three words.
    let words: Vec<&str> = operands.iter().take(4).map(String::as_str).collect();
    let (action, skipped) = match words.as_slice() {
        ["rollout", "restart", ..] => (CooldownAction::Restart, 2),
        ["rollout", "undo", ..] => (CooldownAction::Redeployment, 2),
        ["scale", ..] if is_none() || arguments.iter().any(|it| it == "--replicas=0") => {
            (CooldownAction::Stop, 1)
        }
        ["scale", ..] => (CooldownAction::Start, 1),
        // The name of a pod is not the name of its service.
        ["delete", "pod" | "pods" | "po", ..] => {
            return Some(Act::unnamed(CooldownAction::Restart));
        }
        ["delete", kind, ..] if is_workload(kind) => (CooldownAction::Stop, 1),
        ["set", "image" | "env" | "resources", kind, ..] if is_workload(kind) => {
            return Some(Act { action: CooldownAction::Redeployment, services: set(operands) });
        }
        ["patch" | "edit" | "replace", kind, ..] if is_workload(kind) => {
            (CooldownAction::Redeployment, 1)
        }
        // What is in its files is not known.
        ["apply" | "replace" | "delete"] => {
            return Some(Act::unnamed(CooldownAction::Redeployment));
        }
        _ => return None,
    };
    let resources = operands.get(skipped..)?;
    let name = |resource: &String| match resource.split_once('/') {
        Some((_, name)) => name.to_owned(),
        None => resource.clone(),
    };
    let is_slashed = resources.first().is_some_and(|resource| resource.contains('/'));
    let named = if is_slashed { resources } else { resources.get(1..).unwrap_or_default() };
    Some(Act { action, services: named.iter().map(name).collect() })
}
