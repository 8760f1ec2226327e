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
#[test_case("docker service scale web=0 db=0" => vec!["stop web", "stop db"])]
#[test_case("docker service scale web=3" => vec!["start web"])]
#[test_case("docker service rm web" => vec!["stop web"])]
#[test_case("docker pause web" => vec!["stop web"])]
#[test_case("docker restart /web" => vec!["restart web"]; "the name that the daemon has for it")]
#[test_case("systemctl reload-or-try-restart web" => vec!["restart web"])]
#[test_case("systemctl disable --now web.service" => vec!["stop web"])]
#[test_case("systemctl --now enable web" => vec!["start web"])]
#[test_case("sudo pkill nginx" => vec!["stop nginx"])]
#[test_case("killall -9 nginx" => vec!["stop nginx"])]
fn co_93_a_program_is_known_by_its_grammar(command: &str) -> Vec<String> {
    actions(command)
}

/// CO-93: what stands behind an option that nobody knows may be its value.
#[test_case("docker --tlscacert F restart web" => vec!["restart web"]; "a known option of docker")]
#[test_case("docker --new F restart web" => vec!["restart web"]; "docker")]
#[test_case("docker --new F compose -f x.yml restart web" => vec!["restart web"]; "compose")]
#[test_case("kubectl --as a rollout restart deploy/web" => vec!["restart web"]; "a known option of kubectl")]
#[test_case("kubectl --new a rollout restart deploy/web" => vec!["restart web"]; "kubectl")]
#[test_case("systemctl --new x stop web" => vec!["stop web"]; "systemctl")]
#[test_case("helm --new 5 upgrade web ./chart" => vec!["redeployment web"]; "helm")]
#[test_case("supervisorctl -c F restart web" => vec!["restart web"]; "supervisorctl")]
#[test_case("service --new x web restart" => vec!["restart web"]; "service")]
#[test_case("docker -D inspect restart" => Vec::<String>::new(); "a name")]
#[test_case("systemctl --no-pager status web" => Vec::<String>::new(); "a flag")]
fn co_93_an_unknown_option_hides_no_action(command: &str) -> Vec<String> {
    actions(command)
}

/// CO-93: what a line prints, writes, assigns or lists counts if it runs it.
#[test_case("python3 -c 'subprocess.run([\"docker\",\"restart\",\"web\"])'" => vec!["restart web"]; "a list")]
#[test_case("python3 - <<END\nrun(['docker', 'restart', 'web'])\nEND" => vec!["restart web"]; "a list in a here document")]
#[test_case("node -e 'spawn(\"docker\", [\"restart\", \"web\"])'" => vec!["restart web"]; "a program and a list")]
#[test_case("awk 'BEGIN{system(\"docker restart web\")}'" => vec!["restart web"]; "awk")]
#[test_case("sed '1e docker restart web' x" => vec!["restart web"]; "sed")]
#[test_case("git -c alias.x='!docker restart web' x" => vec!["restart web"]; "an alias of git")]
#[test_case("git rebase --exec='docker restart web' main" => vec!["restart web"]; "git")]
#[test_case("echo 'docker restart web' > x; sh x" => vec!["restart web"]; "a file")]
#[test_case("echo 'docker restart web' >> ./x && chmod +x x && ./x" => vec!["restart web"]; "a file that becomes a program")]
#[test_case("D='docker restart web'; $D" => vec!["restart web"]; "a variable")]
#[test_case("D='docker restart web'; eval \"$D\"" => vec!["restart web"]; "a variable as a script")]
#[test_case("echo 'docker restart web' | ssh host" => vec!["restart web"]; "another machine")]
#[test_case("echo '* * * * * docker restart web' | crontab -" => vec!["restart web"]; "later")]
#[test_case("echo 'docker restart web' | xargs -I{} sh -c '{}'" => vec!["restart web"]; "xargs and a shell")]
#[test_case("vim -c '!docker restart web'" => vec!["restart web"]; "an editor")]
fn co_93_text_that_is_run_is_no_text(command: &str) -> Vec<String> {
    let Recognised { actions: found, notes, own, .. } = recognise(command);
    assert_eq!((notes, own), (Vec::new(), None));
    found.into_iter().map(|it| format!("{} {}", it.action, it.service)).collect()
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
#[test_case("git log --grep 'docker restart jellyfin' -c")]
#[test_case("sed -n 's/docker restart web/x/gp' script.sh")]
#[test_case("awk '/docker restart/ {print $1}' log")]
#[test_case("echo 'docker restart web' > notes.txt; cat notes.txt"; "a note")]
#[test_case("MSG='docker restart web'; echo \"$MSG\""; "a message")]
#[test_case("ps aux | grep bash"; "the name of a shell")]
#[test_case("last reboot")]
#[test_case("grep reboot /var/log/syslog | tail"; "a word")]
#[test_case("shutdown -c")]
#[test_case("pkill -HUP nginx")]
#[test_case("curl -s x | python3 -m json.tool"; "a tool of a language")]
#[test_case("python3 -c 'print([\"docker\", \"ps\"])'"; "a list that does nothing")]
#[test_case("$HOME/bin/probe 80"; "a folder by a variable")]
#[test_case("systemctl disable web")]
#[test_case("docker service ls")]
#[test_case("f() { curl x; }; f; f"; "a function")]
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
#[test_case("$(echo docker) restart a", &CommandNote::NoService { command: "$ restart a".to_owned() }; "a program by a substitution")]
#[test_case("D=dock; ${D}er restart a", &CommandNote::NoService { command: "$er restart a".to_owned() }; "a part of a program")]
#[test_case("echo ZG9ja2Vy | base64 -d | sh", &CommandNote::Unread { command: "echo ZG9ja2Vy | base64 -d | sh".to_owned() }; "a script by a pipe")]
#[test_case("bash <(curl -s x)", &CommandNote::Unread { command: "bash <(curl -s x)".to_owned() }; "a script from elsewhere")]
#[test_case("sudo reboot", &CommandNote::NoService { command: "reboot".to_owned() }; "a machine")]
#[test_case("systemctl isolate rescue", &CommandNote::NoService { command: "systemctl isolate rescue".to_owned() }; "everything but one")]
#[test_case("sed 's/.*/docker restart web/e' x", &CommandNote::UnknownService { written: "web/e".to_owned() }; "a replacement that is run")]
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
#[test_case("r() { docker restart a; }; r; r; r" => Some("docker restart a".to_owned()); "a function")]
#[test_case("function r { docker restart a; }; r; r" => Some("docker restart a".to_owned()); "a function by its word")]
#[test_case("r() { echo '}'; docker restart a; }; r; r" => Some("docker restart a".to_owned()); "a function with a bracket in quotes")]
#[test_case("alias r='docker restart a'; r; r" => Some("docker restart a".to_owned()); "an alias")]
#[test_case("git submodule foreach docker restart a" => Some("docker restart a".to_owned()); "git")]
#[test_case("python3 -c 'for i in range(9): run([\"docker\", \"restart\", \"a\"])'" => Some("docker restart a".to_owned()); "another language")]
#[test_case("f() { curl x; }; docker restart a; f" => None; "beside a function")]
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
