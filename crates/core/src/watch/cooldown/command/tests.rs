//! Which commands act on services.

use proptest::prelude::*;
use test_case::test_case;

use super::*;

fn actions(command: &str) -> Vec<String> {
    let actions = recognise(command).actions;
    actions.into_iter().map(|it| format!("{} {}", it.action, it.service)).collect()
}

/// CO-93: the patterns, and the programs that do the same.
#[test_case("docker restart jellyfin" => vec!["restart jellyfin"])]
#[test_case("docker restart -t 10 a --time 5 b" => vec!["restart a", "restart b"]; "options and several")]
#[test_case("docker -H tcp://x stop jellyfin" => vec!["stop jellyfin"])]
#[test_case("docker container start jellyfin" => vec!["start jellyfin"])]
#[test_case("podman restart jellyfin" => vec!["restart jellyfin"])]
#[test_case("docker compose restart jellyfin" => vec!["restart jellyfin"])]
#[test_case("docker compose -f x.yml --profile p up -d jellyfin" => vec!["restart jellyfin"])]
#[test_case("docker-compose up -d --force-recreate a b" => vec!["restart a", "restart b"])]
#[test_case("systemctl restart nginx.service" => vec!["restart nginx"])]
#[test_case("systemctl --user stop a b" => vec!["stop a", "stop b"])]
#[test_case("service nginx restart" => vec!["restart nginx"])]
#[test_case("/etc/init.d/nginx stop" => vec!["stop nginx"])]
#[test_case("pm2 restart worker" => vec!["restart worker"])]
#[test_case("systemctl reload-or-restart nginx" => vec!["restart nginx"])]
#[test_case("docker --context far restart web" => vec!["restart web"]; "a context")]
#[test_case("docker stack deploy -c stack.yml shop" => vec!["redeployment shop"])]
#[test_case("docker stack rm shop" => vec!["stop shop"])]
#[test_case("docker compose rm -sf web" => vec!["stop web"])]
#[test_case("kubectl -n ns rollout restart deploy/web" => vec!["restart web"]; "a namespace")]
#[test_case("kubectl set image deployment/web web=web:2" => vec!["redeployment web"])]
#[test_case("kubectl set image deployment web web=web:2" => vec!["redeployment web"]; "set image with a space")]
#[test_case("kubectl patch deploy web -p {}" => vec!["redeployment web"])]
#[test_case("helm -n ns install shop chart" => vec!["redeployment shop"])]
#[test_case("helm uninstall shop till" => vec!["stop shop", "stop till"])]
#[test_case("supervisorctl restart worker" => vec!["restart worker"])]
#[test_case("ansible-playbook -i hosts playbooks/redeploy-jellyfin.yml" => vec!["redeployment jellyfin"])]
#[test_case("ansible-playbook site.yml --tags redeploy-jellyfin,x" => vec!["redeployment jellyfin"])]
#[test_case("helm upgrade --install -n media jellyfin ./chart" => vec!["redeployment jellyfin"])]
#[test_case("helm upgrade jellyfin ./chart -f v.yml" => vec!["redeployment jellyfin"])]
#[test_case("helm rollback jellyfin 3" => vec!["redeployment jellyfin"])]
#[test_case("kubectl rollout restart deploy/web" => vec!["restart web"])]
#[test_case("kubectl -n prod rollout restart deployment web api" => vec!["restart web", "restart api"])]
#[test_case("kubectl rollout undo deploy/web" => vec!["redeployment web"])]
#[test_case("kubectl scale deploy/web --replicas=0" => vec!["stop web"])]
#[test_case("kubectl scale --replicas 3 deployment web" => vec!["start web"])]
#[test_case("kubectl delete deployment web" => vec!["stop web"])]
#[test_case("docker rm -f jellyfin" => vec!["stop jellyfin"])]
#[test_case("docker kill jellyfin" => vec!["stop jellyfin"])]
#[test_case("docker service update --force web" => vec!["redeployment web"])]
fn co_93_a_program_is_known_by_its_grammar(command: &str) -> Vec<String> {
    actions(command)
}

/// CO-93: wherever it stands in a line.
#[test_case("sudo docker restart a" => vec!["restart a"])]
#[test_case("sudo -u ops -E docker restart a" => vec!["restart a"])]
#[test_case("A=1 B=2 docker restart a" => vec!["restart a"]; "assignments")]
#[test_case("env A=1 /usr/bin/docker restart a" => vec!["restart a"]; "env and a folder")]
#[test_case("cd /srv && docker restart a; echo done" => vec!["restart a"]; "compound")]
#[test_case("sh -c 'docker restart a'" => vec!["restart a"])]
#[test_case("bash -lc \"cd /srv; sudo docker restart a && docker stop b\"" => vec!["restart a", "stop b"])]
#[test_case("sh -c \"sh -c 'docker restart a'\"" => vec!["restart a"]; "twice")]
#[test_case("ssh -p 22 host docker restart a" => vec!["restart a"])]
#[test_case("ssh host 'sudo systemctl restart a'" => vec!["restart a"])]
#[test_case("timeout 30 docker restart a" => vec!["restart a"])]
#[test_case("nohup docker restart a >/dev/null 2>&1 &" => vec!["restart a"])]
#[test_case("if ! curl -f x; then docker restart a; fi" => vec!["restart a"])]
#[test_case("(docker restart a)" => vec!["restart a"]; "a subshell")]
#[test_case("x=$(docker restart a)" => vec!["restart a"]; "a substitution")]
#[test_case("echo `docker restart a`" => vec!["restart a"]; "backticks")]
#[test_case("bash <<EOF\ndocker restart a\nEOF" => vec!["restart a"]; "a here document")]
#[test_case("echo 'docker restart a' | sh" => vec!["restart a"]; "a script by a pipe")]
#[test_case("echo docker restart a | sudo bash -s" => vec!["restart a"]; "a script by a pipe, with rights")]
#[test_case("python3 -c \"import os; os.system('docker restart a')\"" => vec!["restart a"]; "another language")]
#[test_case("docker \\\n  restart a" => vec!["restart a"]; "a hidden line break")]
#[test_case("'docker' \"restart\" a" => vec!["restart a"]; "quotes")]
#[test_case("docker restart a # it's stuck" => vec!["restart a"]; "a comment")]
#[test_case("docker exec web service nginx restart" => vec!["restart nginx"]; "within a container")]
#[test_case("k3s kubectl rollout restart deploy/a" => vec!["restart a"])]
fn co_93_an_action_is_found_wherever_it_stands(command: &str) -> Vec<String> {
    actions(command)
}

/// CO-93: no match, no action. What only speaks of one is none.
#[test_case("docker ps -a")]
#[test_case("docker logs --tail 50 jellyfin")]
#[test_case("docker inspect restart")]
#[test_case("docker compose ps")]
#[test_case("systemctl status nginx")]
#[test_case("systemctl reload nginx")]
#[test_case("kubectl rollout status deploy/web")]
#[test_case("kubectl get service web")]
#[test_case("kubectl delete configmap x")]
#[test_case("docker rm stopped")]
#[test_case("helm list")]
#[test_case("ansible-playbook site.yml")]
#[test_case("echo docker restart jellyfin")]
#[test_case("grep 'docker restart jellyfin' /var/log/syslog | tail")]
#[test_case("git commit -m 'docker restart jellyfin'")]
#[test_case("journalctl -u jellyfin | grep restart")]
#[test_case("npm start")]
#[test_case(""; "nothing")]
#[test_case("   "; "space")]
fn co_93_what_does_not_act_is_no_action(command: &str) {
    assert_eq!(recognise(command), Recognised::default());
}

/// CO-93: fail-open, but told.
#[test_case("docker restart $s", &CommandNote::UnknownService { written: "$s".to_owned() }; "a variable")]
#[test_case("docker restart $(docker ps -q)", &CommandNote::UnknownService { written: "$".to_owned() }; "a substitution")]
#[test_case("systemctl restart 'app@*'", &CommandNote::UnknownService { written: "app@*".to_owned() }; "a pattern")]
#[test_case("docker compose restart", &CommandNote::NoService { command: "docker compose restart".to_owned() }; "all of them")]
#[test_case("kubectl -n x apply -f web.yml", &CommandNote::NoService { command: "kubectl -n x apply -f web.yml".to_owned() }; "what is in a file")]
#[test_case("D=docker; $D restart a", &CommandNote::NoService { command: "$D restart a".to_owned() }; "a program by a variable")]
#[test_case("kubectl delete pod web-7f9c", &CommandNote::NoService { command: "kubectl delete pod web-7f9c".to_owned() }; "a pod")]
#[test_case("ansible-playbook redeploy.yml", &CommandNote::NoService { command: "ansible-playbook redeploy.yml".to_owned() }; "a playbook for all")]
fn co_93_what_cannot_be_named_is_let_pass_and_told(command: &str, note: &CommandNote) {
    let recognised = recognise(command);
    assert_eq!((recognised.actions, recognised.notes), (Vec::new(), vec![note.clone()]));
    assert!(note.event().message.contains("was let pass"));
}

/// CO-93: what is done again and again cannot be counted.
#[test_case("for i in 1 2 3 4 5; do docker restart a; done" => Some("docker restart a".to_owned()); "for")]
#[test_case("for s in a b; do docker restart $s; done" => Some("docker restart $s".to_owned()); "a variable")]
#[test_case("while true; do docker restart a; sleep 1; done" => Some("docker restart a".to_owned()); "while")]
#[test_case("until docker restart a; do sleep 1; done" => Some("docker restart a".to_owned()); "until")]
#[test_case("for i in $(seq 5); do docker restart a; done" => Some("docker restart a".to_owned()); "not understood")]
#[test_case("bash -c 'for i in 1 2; do docker restart a; done'" => Some("docker restart a".to_owned()); "in another shell")]
#[test_case("for i in 1 2; do sh -c 'docker restart a'; done" => Some("docker restart a".to_owned()); "around another shell")]
#[test_case("if true; then for i in 1 2; do docker restart a; done; fi" => Some("docker restart a".to_owned()); "behind a condition")]
#[test_case("docker ps -q | xargs docker restart" => Some("docker restart".to_owned()); "xargs")]
#[test_case("seq 5 | xargs -I{} docker restart a" => Some("docker restart a".to_owned()); "xargs with a place")]
#[test_case("seq 5 | sudo xargs -n1 sh -c 'docker restart a'" => Some("docker restart a".to_owned()); "xargs with a shell")]
#[test_case("watch -n 1 docker restart a" => Some("docker restart a".to_owned()); "watch")]
#[test_case("parallel docker restart a ::: 1 2" => Some("docker restart a ::: 1 2".to_owned()); "parallel")]
#[test_case("find . -name x -exec docker restart a +" => Some("docker restart a +".to_owned()); "find")]
#[test_case("for i in 1 2; do curl x; done; docker restart a" => None; "behind a loop")]
#[test_case("docker restart a; for i in 1 2; do curl x; done" => None; "before a loop")]
#[test_case("docker restart watch" => None; "a name")]
fn co_93_an_action_in_a_loop_cannot_be_counted(command: &str) -> Option<String> {
    recognise(command).repeated
}

#[test]
fn a_command_that_is_too_long_is_told() {
    let command = format!("docker restart a {}", " ".repeat(COMMAND_LIMIT_BYTES));
    let notes = vec![CommandNote::TooLong { bytes: command.len() }];
    assert_eq!(recognise(&command), Recognised { notes, ..Recognised::default() });
}

#[test]
fn very_many_words_are_looked_at_once() {
    let words = "docker restart ".repeat(COMMAND_LIMIT_BYTES / 15);
    assert!(recognise(&format!("({words})")).actions.len() <= ACTIONS_LIMIT);
    assert!(recognise(&words).actions.len() <= ACTIONS_LIMIT);
}

proptest! {
    #[test]
    fn any_text_is_looked_at(text in "\\PC*[ '\"`$(){};&|<>\\\\\n]{0,20}(docker restart a)?") {
        prop_assert!(recognise(&text).actions.len() <= ACTIONS_LIMIT);
    }

    /// An action in a line stays one, whatever stands before and behind it.
    #[test]
    fn an_action_cannot_be_hidden_between_others(
        before in "[a-z]{1,6}( [a-z-]{1,6}){0,3}",
        behind in "[a-z]{1,6}( [a-z-]{1,6}){0,3}",
        joint in prop::sample::select(vec!["; ", " && ", " || ", "\n", " & "]),
    ) {
        let line = format!("{before}{joint}docker restart a{joint}{behind}");
        prop_assert!(actions(&line).contains(&"restart a".to_owned()));
    }
}
