//! The options of programs that take a value, as far as they are known.
//!
//! What stands behind an option that is not here is read both ways, so a list that is not complete hides no
//! action; it only costs precision.

/// Options of `docker`, `podman` and `nerdctl` that take a value.
pub(super) const DOCKER_VALUES: [&str; 17] = [
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
    "--tlscacert",
    "--tlscert",
    "--tlskey",
];

/// Options of `docker compose` that take a value.
pub(super) const COMPOSE_VALUES: [&str; 17] = [
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
pub(super) const SYSTEMCTL_VALUES: [&str; 16] = [
    "-H",
    "--host",
    "-M",
    "--machine",
    "-t",
    "--type",
    "--state",
    "-p",
    "--property",
    "--job-mode",
    "-s",
    "--signal",
    "-n",
    "--lines",
    "-o",
    "--output",
];

/// Options of `helm` that take a value.
pub(super) const HELM_VALUES: [&str; 21] = [
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
pub(super) const KUBECTL_VALUES: [&str; 27] = [
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
    "--as",
    "--as-group",
    "--token",
];

/// Options of `pkill` and `killall` that take a value.
pub(super) const PKILL_VALUES: [&str; 12] = [
    "-u",
    "--euid",
    "-U",
    "--uid",
    "-g",
    "--pgroup",
    "-G",
    "--group",
    "-P",
    "--parent",
    "-t",
    "--terminal",
];
