//! A team on several hosts, as processes, through NATS. Runs where `TEAMLOG_NATS` names a server's program.

use crate::daemon::Daemon;
use crate::hosts::{check_equal, known, record_while};
use crate::nats_servers::Cluster;
use crate::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::thread;

/// A host that knows the journal.
fn host(cluster: &Cluster, number: usize) -> Cli {
    let (cli, config) = (Cli::new(), cluster.config());
    let text = format!(
        "[journals.main]\nurl = \"{}\"\nmonitors = {:?}\nhost = \"host-{number}\"\n",
        config.url, config.monitors
    );
    known(&cli, &text);
    cli
}

#[test]
fn two_data_roots_write_one_team_through_nats() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let hosts = [0, 1].map(|number| host(&cluster, number));
    let [first, second] = &hosts;
    let none = first.refused_json(78, "journal check main");
    assert_eq!(none.code, "journal_of_another");
    let made: Value = first.json("journal create main");
    assert_eq!(
        (&made["kind"], &made["copies"]),
        (&json!("nats"), &json!(3))
    );
    let checked: Value = second.json("journal check main");
    assert_eq!(checked["journal"], made["journal"]);
    let unknown = second.refused_json(1, "join demo --journal main");
    assert_eq!(unknown.code, "not_in_journal");

    first.ok("init demo --members lead,dev --journal main");
    let taken = second.refused_json(1, "init demo --members lead --journal main");
    assert_eq!(taken.code, "journal_refused");
    second.ok("join demo --journal main");
    claims_meet(&hosts);
    let artifact = first.file("plan.txt", "step one");
    first.ok(&format!(
        "artifact put demo {} --name plan.txt",
        artifact.display()
    ));
    second.ok("join demo --journal main");
    assert_eq!(second.ok("artifact get demo plan.txt"), "step one");
    check_equal(&hosts);
    the_leader_dies(&mut cluster, &hosts);
    check_equal(&hosts);
    let status: Value = second.json("journal status demo");
    assert_eq!(
        (&status["state"], &status["here"]),
        (&json!("open"), &status["last_seq"])
    );

    for line in [
        "journal migrate main",
        "journal trim demo --before 2 --backup nowhere",
    ] {
        let refused = first.refused_json(1, line);
        assert_eq!(refused.code, "journal_refused", "{line}");
        assert!(
            refused.message.contains("of kind nats"),
            "{}",
            refused.message
        );
    }
    comes_and_goes(&hosts);
    second.ok("doctor check demo --deep");
}

/// Each task is claimed on both hosts at once; the second one has a daemon, which follows the first.
fn claims_meet(hosts: &[Cli; 2]) {
    let daemon = Daemon::of(&hosts[1]);
    for number in 1..=5 {
        hosts[number % 2].ok(&format!("task create demo --subject work-{number}"));
        let claim = |(host, worker): (&Cli, &str)| {
            host.run(&format!(
                "task claim demo {number} --worker {worker} --json"
            ))
        };
        let ran: Vec<Ran> = thread::scope(|scope| {
            let claims = hosts.iter().zip(["lead", "dev"]);
            let claims: Vec<_> = claims.map(|one| scope.spawn(move || claim(one))).collect();
            claims.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let won = ran.iter().filter(|ran| ran.code == Some(0)).count();
        assert_eq!(won, 1, "{ran:?}");
    }
    hosts[0].ok("append demo --kind told");
    let seq = |cli: &Cli| cli.json::<Value>("head demo")["seq"].clone();
    let until = Instant::now() + Duration::from_secs(10);
    while seq(&hosts[1]) != seq(&hosts[0]) {
        assert!(Instant::now() < until, "the daemon does not follow");
        thread::sleep(Duration::from_millis(100));
    }
    daemon.kill();
}

fn the_leader_dies(cluster: &mut Cluster, hosts: &[Cli; 2]) {
    record_while(hosts, || {
        thread::sleep(Duration::from_secs(1));
        let leader = cluster.leader("teamlog_log_demo");
        cluster.kill(leader);
        thread::sleep(Duration::from_secs(4));
        cluster.restart(leader);
        thread::sleep(Duration::from_secs(2));
    });
}

/// A team that one host has comes to the journal, and goes off again.
fn comes_and_goes([first, second]: &[Cli; 2]) {
    first.ok("init lab --members lead,dev");
    first.ok("task create lab --subject alone");
    let adopted: Value = first.json("journal adopt lab --journal main");
    assert_eq!(adopted["changed"], true);
    second.ok("join lab --journal main");
    second.ok("task create lab --subject together");
    let healed: Value = second.json("journal heal lab");
    assert_eq!(healed["changed"], false);
    first.ok("journal leave lab");
    let left = second.refused_json(1, "task create lab --subject late");
    assert_eq!(left.code, "journal_left");
    first.ok("task create lab --subject alone-again");
    first.ok("verify lab");
}

#[test]
fn what_is_wrong_with_a_journal_on_nats_is_said() {
    let nobody = "url = \"nats://127.0.0.1:1\"\n";
    for (text, exit, code) in [
        (
            "url = \"nats://ada:secret@localhost\"\n",
            1,
            "secret_in_url",
        ),
        ("url = \"tls://secret@localhost\"\n", 1, "secret_in_url"),
        ("url = \"nats://localhost/demo\"\n", 1, "invalid_input"),
        (
            &format!("{nobody}monitors = [\"localhost\"]\n"),
            1,
            "invalid_input",
        ),
        (
            "url = \"postgres://a@localhost/b\"\nmonitors = []\n",
            1,
            "invalid_input",
        ),
        (nobody, 75, "journal_unreachable"),
    ] {
        let cli = Cli::new();
        known(&cli, &format!("[journals.main]\n{text}"));
        for line in ["init demo --journal main", "journal check main"] {
            let error = cli.refused_json(exit, line);
            assert_eq!(error.code, code, "{text} {line}: {}", error.message);
            assert!(!error.message.contains("secret@"), "{}", error.message);
        }
    }
    let cli = Cli::new();
    let creds = cli.file("creds", "seed");
    std::fs::set_permissions(&creds, std::fs::Permissions::from_mode(0o644)).unwrap();
    known(
        &cli,
        &format!("[journals.main]\n{nobody}creds = \"{}\"\n", creds.display()),
    );
    assert_eq!(
        cli.refused_json(1, "journal check main").code,
        "key_exposed"
    );
}
