//! The programs that act on services, each with its grammar: where its verb stands, which options
//! take a value, and what it calls a service.

use super::CooldownAction;
use crate::shell::program_name;

/// What some words do to services; none are named if it is to all of them, or to one that is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) action: CooldownAction,
    pub(super) services: Vec<String>,
}

/// Options of `docker`, `podman` and `nerdctl` that take a value.
const DOCKER_VALUES: [&str; 14] = [
    "-H",
    "--host",
    "-c",
    "--context",
    "--config",
    "-l",
    "--log-level",
    "-t",
    "--time",
    "--timeout",
    "-s",
    "--signal",
    "--url",
    "--connection",
];

/// Options of `docker compose` that take a value.
const COMPOSE_VALUES: [&str; 17] = [
    "-f",
    "--file",
    "-p",
    "--project-name",
    "--profile",
    "--env-file",
    "--project-directory",
    "--ansi",
    "--progress",
    "--parallel",
    "-t",
    "--timeout",
    "--scale",
    "--pull",
    "--wait-timeout",
    "--exit-code-from",
    "--context",
];

/// Options of `systemctl` that take a value.
const SYSTEMCTL_VALUES: [&str; 9] =
    ["-H", "--host", "-M", "--machine", "-t", "--type", "--job-mode", "-s", "--signal"];

/// Options of `helm` that take a value.
const HELM_VALUES: [&str; 21] = [
    "-n",
    "--namespace",
    "--kube-context",
    "--kubeconfig",
    "-f",
    "--values",
    "--set",
    "--set-string",
    "--set-file",
    "--set-json",
    "--version",
    "--timeout",
    "--repo",
    "--description",
    "--history-max",
    "--post-renderer",
    "--ca-file",
    "--username",
    "--password",
    "--registry-config",
    "-o",
];

/// Options of `kubectl` that take a value.
const KUBECTL_VALUES: [&str; 24] = [
    "-k",
    "--kustomize",
    "--filename",
    "-p",
    "--patch",
    "--patch-file",
    "--type",
    "-o",
    "--output",
    "--timeout",
    "-n",
    "--namespace",
    "--context",
    "--cluster",
    "--kubeconfig",
    "-s",
    "--server",
    "--user",
    "-l",
    "--selector",
    "-f",
    "--to-revision",
    "--replicas",
    "--grace-period",
];

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
        "ansible-playbook" => ansible(arguments),
        "helm" => helm(arguments),
        "kubectl" | "oc" => kubectl(arguments),
        _ => None,
    }
}

/// Returns the words that are neither options nor their values.
fn operands(words: &[String], with_value: &[&str]) -> Vec<String> {
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            operands.extend(rest.by_ref().cloned());
        } else if with_value.contains(&word.as_str()) {
            let _: Option<&String> = rest.next();
        } else if !word.starts_with('-') {
            operands.push(word.clone());
        }
    }
    operands
}

/// Returns what a verb that most programs share does.
fn verb(word: &str) -> Option<CooldownAction> {
    match word {
        "restart" | "try-restart" | "reload-or-restart" | "condrestart" | "reload" => {
            Some(CooldownAction::Restart)
        }
        "stop" | "kill" => Some(CooldownAction::Stop),
        "start" => Some(CooldownAction::Start),
        _ => None,
    }
}

fn docker(arguments: &[String]) -> Option<Act> {
    if let Some(position) = arguments.iter().position(|word| word == "compose") {
        let before = arguments.get(..position)?;
        if operands(before, &DOCKER_VALUES).is_empty() {
            return compose(arguments.get(position + 1..)?);
        }
    }
    let mut operands = operands(arguments, &DOCKER_VALUES);
    if operands.first().is_some_and(|word| word == "container") {
        operands.remove(0);
    }
    let (word, services) = operands.split_first()?;
    if word == "stack" {
        return stack(services);
    }
    if word == "service" && services.first().is_some_and(|word| word == "update") {
        let services = services.last().filter(|_| services.len() > 1).cloned();
        let action = CooldownAction::Redeployment;
        return Some(Act { action, services: services.into_iter().collect() });
    }
    let is_forced =
        arguments.iter().any(|it| matches!(it.as_str(), "-f" | "--force" | "-fv" | "-vf"));
    let action = match word.as_str() {
        // A container that runs is stopped by it.
        "rm" if is_forced => CooldownAction::Stop,
        word => verb(word)?,
    };
    Some(Act { action, services: services.to_vec() })
}

/// Reads `stack deploy NAME` and `stack rm NAME …`.
fn stack(words: &[String]) -> Option<Act> {
    let (word, rest) = words.split_first()?;
    let (action, services) = match word.as_str() {
        // What is before the name are the values of options.
        "deploy" | "up" => {
            (CooldownAction::Redeployment, rest.last().cloned().into_iter().collect())
        }
        "rm" | "remove" | "down" => (CooldownAction::Stop, rest.to_vec()),
        _ => return None,
    };
    Some(Act { action, services })
}

fn compose(arguments: &[String]) -> Option<Act> {
    let operands = operands(arguments, &COMPOSE_VALUES);
    let (word, services) = operands.split_first()?;
    let action = match word.as_str() {
        "up" => CooldownAction::Restart,
        "down" | "rm" => CooldownAction::Stop,
        word => verb(word)?,
    };
    Some(Act { action, services: services.to_vec() })
}

fn systemctl(arguments: &[String]) -> Option<Act> {
    let operands = operands(arguments, &SYSTEMCTL_VALUES);
    let (word, units) = operands.split_first()?;
    // A reload keeps the service running.
    let action = verb(word).filter(|_| word != "reload")?;
    let services = units.iter().map(|unit| unit.trim_end_matches(".service").to_owned()).collect();
    Some(Act { action, services })
}

/// Reads `service NAME VERB`.
fn sysv(arguments: &[String]) -> Option<Act> {
    let [name, word, ..] = arguments else {
        return None;
    };
    script(name, std::slice::from_ref(word))
}

/// Reads the arguments of the start script of `name`.
fn script(name: &str, arguments: &[String]) -> Option<Act> {
    let word = arguments.first().filter(|word| *word != "reload")?;
    Some(Act { action: verb(word)?, services: vec![name.to_owned()] })
}

/// Reads `VERB NAME …`.
fn plain(arguments: &[String]) -> Option<Act> {
    let operands = operands(arguments, &[]);
    let (word, services) = operands.split_first()?;
    Some(Act { action: verb(word)?, services: services.to_vec() })
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
    let operands = operands(arguments, &HELM_VALUES);
    let (word, rest) = operands.split_first()?;
    let (action, most) = match word.as_str() {
        "upgrade" | "rollback" | "install" => (CooldownAction::Redeployment, 1),
        "uninstall" | "delete" | "del" | "un" => (CooldownAction::Stop, rest.len()),
        _ => return None,
    };
    Some(Act { action, services: rest.iter().take(most).cloned().collect() })
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
    let operands = operands(arguments, &KUBECTL_VALUES);
    let words: Vec<&str> = operands.iter().map(String::as_str).collect();
    let is_none = || arguments.windows(2).any(|pair| pair == ["--replicas", "0"]);
    let (action, skipped) = match words.as_slice() {
        ["rollout", "restart", ..] => (CooldownAction::Restart, 2),
        ["rollout", "undo", ..] => (CooldownAction::Redeployment, 2),
        ["scale", ..] if is_none() || arguments.iter().any(|it| it == "--replicas=0") => {
            (CooldownAction::Stop, 1)
        }
        ["scale", ..] => (CooldownAction::Start, 1),
        // The name of a pod is not the name of its service.
        ["delete", "pod" | "pods" | "po", ..] => {
            return Some(Act { action: CooldownAction::Restart, services: Vec::new() });
        }
        ["delete", kind, ..] if is_workload(kind) => (CooldownAction::Stop, 1),
        ["set", "image" | "env" | "resources", kind, ..] if is_workload(kind) => {
            return Some(Act { action: CooldownAction::Redeployment, services: set(&operands) });
        }
        ["patch" | "edit" | "replace", kind, ..] if is_workload(kind) => {
            (CooldownAction::Redeployment, 1)
        }
        // What is in its files is not known.
        ["apply" | "replace" | "delete"] => {
            return Some(Act { action: CooldownAction::Redeployment, services: Vec::new() });
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
