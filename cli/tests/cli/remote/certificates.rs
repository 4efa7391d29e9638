//! A certificate that is renewed while the daemon runs, and an expired certificate.

use super::*;
use crate::waiting::until;
use rustix::process::{Pid, Signal, kill_process};

/// A certificate for localhost with its key. The certificate is valid until 2120.
const RENEWED: &str = include_str!("certificates/renewed.pem");
const RENEWED_KEY: &str = include_str!("certificates/renewed.key");
/// A certificate for localhost with its key. The certificate expired in 2021.
const EXPIRED: &str = include_str!("certificates/expired.pem");
const EXPIRED_KEY: &str = include_str!("certificates/expired.key");

impl Machine {
    fn install(&self, certificate: &str, key: &str) {
        private(&self.cli.outside().join("server.pem"), certificate);
        private(&self.cli.outside().join("server.key"), key);
    }

    fn hang_up(&self) {
        let pid = self.daemon.as_ref().unwrap().pid();
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        kill_process(pid, Signal::HUP).unwrap();
    }

    /// Runs a command that trusts only this certificate.
    fn trusting(&self, certificate: &str) -> (Option<i32>, String) {
        let file = self.elsewhere.outside().join("pinned.pem");
        private(&file, certificate);
        let mut command = self.command("dev", "status demo --json");
        refused(Ran::of(command.env("TEAMLOG_REMOTE_CA", file)))
    }

    fn serve_status(&self) -> Value {
        self.cli.json("serve --status --json")
    }
}

#[test]
fn sighup_loads_a_renewed_certificate_and_a_wrong_one_is_told() {
    let machine = Machine::new();
    let done = (Some(0), String::new());
    let (_tail, _lines) = following(machine.command("qa", "tail demo -f --json"));
    // The daemon refuses a certificate that does not match the key, and reports the refusal.
    machine.install(RENEWED, KEY);
    machine.hang_up();
    until("the failure is told", || {
        !machine.serve_status()["certificateFailure"].is_null()
    });
    assert!(
        machine
            .cli
            .ok("serve --status")
            .contains("certificate not reloaded")
    );
    machine.ok("dev", "status demo");
    machine.install(RENEWED, RENEWED_KEY);
    machine.hang_up();
    until("the renewed certificate is shown", || {
        machine.trusting(RENEWED) == done
    });
    assert!(machine.serve_status()["certificateFailure"].is_null());
    assert_eq!(machine.trusting(CA).0, Some(69));
    // A key that other users may read is refused, like at the start of the daemon.
    let key = machine.cli.outside().join("server.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    machine.hang_up();
    until("the open key is told", || {
        let failure = machine.serve_status()["certificateFailure"].to_string();
        failure.contains("chmod 600")
    });
    machine.trusting(RENEWED);
}

#[test]
fn sighup_stops_a_daemon_without_a_certificate() {
    let cli = Cli::with_team();
    let daemon = Daemon::of(&cli);
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    assert_eq!(daemon.ended(), (Some(0), String::new()));
}

#[test]
fn a_pinned_certificate_counts_until_its_last_day() {
    let machine = Machine::unserved();
    machine.install(EXPIRED, EXPIRED_KEY);
    let daemon = Daemon::with(&machine.cli, &machine.words("127.0.0.1:0"));
    let url = daemon.ready["remoteUrl"].as_str().unwrap();
    let (_, port) = url.rsplit_once(':').unwrap();
    let machine = Machine {
        port: port.parse().unwrap(),
        daemon: Some(daemon),
        ..machine
    };
    let file = machine.elsewhere.outside().join("pinned.pem");
    private(&file, EXPIRED);
    let mut command = machine.command("dev", "status demo");
    let ran = Ran::of(command.env("TEAMLOG_REMOTE_CA", file));
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("expired"), "{ran:?}");
}
