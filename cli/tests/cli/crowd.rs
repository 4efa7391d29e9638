//! A daemon with a low limit of open files, and more idle connections than that limit.

use crate::daemon::Daemon;
use crate::prelude::*;
use std::net::TcpStream;

/// Number of idle connections. This number is larger than the daemon's limit of open files.
const CROWD: usize = 150;

/// Starts the daemon with a hard limit of open files.
fn served_with(cli: &Cli, files: u32) -> Daemon {
    let plain = cli.command("serve --json");
    let mut command = Command::new("sh");
    let limited = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
    command
        .arg("-c")
        .arg(limited)
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(cli.dir());
    command.env_clear();
    command.envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    Daemon::started(command)
}

#[test]
fn calls_are_answered_beside_a_crowd_where_few_files_may_be_open() {
    let cli = Cli::with_team();
    let daemon = served_with(&cli, 64);
    let runtime = std::fs::read(cli.dir().join("teams/demo/runtime.json")).unwrap();
    let runtime: Value = serde_json::from_slice(&runtime).unwrap();
    let token = runtime["token"].as_str().unwrap();
    let address = runtime["url"].as_str().unwrap().replace("http://", "");
    let crowd: Vec<TcpStream> = (0..CROWD)
        .map(|_| TcpStream::connect(&address).unwrap())
        .collect();
    for number in 0..20 {
        let body = format!("{{\"title\":\"t{number}\"}}");
        let (status, _, answer) = daemon.ask(token, "POST", "/v1/tasks", &body);
        assert_eq!(status, 201, "{number}: {answer}");
        // Commands over the socket are answered too.
        if number % 5 == 0 {
            cli.ok("send demo --from lead --to dev --type handoff --json");
        }
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap();
    assert!(open.count() < 50, "a part of the files is left");
    drop(crowd);
}
