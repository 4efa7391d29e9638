//! Two machines as network namespaces with a cable between them. The other machine cannot reach the daemon's loopback port, and
//! clients notice if the cable is pulled.

use super::{CA, Machine, following, private};
use crate::prelude::*;
use std::io::BufRead;

/// Address of the daemon's machine, and address of the other machine.
const HERE: &str = "10.77.0.1";
const THERE: &str = "10.77.0.2";

/// A process that keeps a namespace alive.
struct Namespace(Child);

impl Namespace {
    /// Creates a namespace. Returns `None` if this is not permitted.
    fn new() -> Option<Namespace> {
        let mut child = Command::new("unshare")
            .args([
                "-n",
                "sh",
                "-c",
                "ip link set lo up && echo up && exec sleep 600",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take()?)
            .read_line(&mut line)
            .ok()?;
        let namespace = Namespace(child);
        (line == "up\n").then_some(namespace)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Wraps a command so that it runs in this namespace.
    fn entered(&self, command: &Command) -> Command {
        let mut entered = Command::new("nsenter");
        entered
            .args(["-t", &self.pid(), "-n", "--"])
            .arg(command.get_program());
        entered.args(command.get_args()).env_clear();
        entered.env("PATH", std::env::var("PATH").unwrap());
        for (name, value) in command.get_envs() {
            entered.envs(value.map(|value| (name, value)));
        }
        entered
            .current_dir(command.get_current_dir().unwrap())
            .stdin(Stdio::null());
        entered
    }

    #[track_caller]
    fn ip(&self, words: &str) {
        let mut command = Command::new("ip");
        command.args(words.split(' ')).current_dir("/");
        assert!(
            self.entered(&command).status().unwrap().success(),
            "ip {words}"
        );
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Creates two namespaces with a cable between them. Returns `None` if this is not permitted.
fn machines() -> Option<(Namespace, Namespace)> {
    let (here, there) = (Namespace::new()?, Namespace::new()?);
    here.ip(&format!(
        "link add cable type veth peer name cable netns {}",
        there.pid()
    ));
    here.ip(&format!("address add {HERE}/24 dev cable"));
    there.ip(&format!("address add {THERE}/24 dev cable"));
    here.ip("link set cable up");
    there.ip("link set cable up");
    Some((here, there))
}

#[test]
fn an_agent_on_another_machine_works_over_a_cable_that_can_be_pulled() {
    let Some((here, there)) = machines() else {
        eprintln!("skipped: there can be no network namespaces here");
        return;
    };
    let mut machine = Machine::unserved();
    let serve = machine.cli.command(&format!(
        "serve {} --json",
        machine.words(&format!("{HERE}:7443"))
    ));
    let daemon = crate::daemon::Daemon::started(here.entered(&serve));
    (machine.host, machine.port) = (HERE.to_owned(), 7443);
    private(&machine.elsewhere.outside().join("ca.pem"), CA);
    let url = daemon.ready["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let run = |line: &str| Ran::of(&mut there.entered(&machine.command("dev", line)));
    let created = run("task create demo --task-id T-1 --subject x");
    assert_eq!(created.code, Some(0), "{created:?}");
    assert_eq!(machine.events().last().unwrap()["actor"], "dev");
    let port = url.rsplit(':').next().unwrap();
    let reaches = |port: &str| {
        let mut reach = Command::new("bash");
        let connect = format!("exec 3<>/dev/tcp/{HERE}/{port}");
        reach.args(["-c", &connect]).current_dir("/");
        let mut reach = there.entered(&reach);
        reach.stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(reaches("7443"));
    assert!(!reaches(port));
    // Pull the cable while a client follows the log.
    let tail = there.entered(&machine.command("dev", "tail demo -f --json"));
    let (mut tail, mut lines) = following(tail);
    there.ip("link set cable down");
    let began = std::time::Instant::now();
    let gone = run("status demo --json");
    assert_eq!(gone.code, Some(69), "{gone:?}");
    assert!(gone.stderr.contains("daemon_unreachable"), "{gone:?}");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    there.ip("link set cable up");
    let back = run("task create demo --task-id T-2 --subject x");
    assert_eq!(back.code, Some(0), "{back:?}");
    // The connection of the follower continues after the pause.
    let mut heard = String::new();
    while !heard.contains("T-2") {
        heard.clear();
        assert!(lines.read_line(&mut heard).unwrap() > 0);
    }
    tail.kill().unwrap();
    tail.wait().unwrap();
}
