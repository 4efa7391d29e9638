//! A team on several hosts, as processes: the settings of journals, and three data roots that write one log through
//! PostgreSQL. Tests that need a server run only if `TEAMLOG_POSTGRES` names the programs of PostgreSQL.

mod steps;

use crate::cluster::Cluster;
use crate::daemon::Daemon;
use crate::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use steps::{
    answers_say_how_new_they_are, claims_meet, reads_can_demand_what_others_recorded,
    the_primary_dies,
};
use teamlog_team::engine::{Identity, JournalIdentity};

/// Writes the settings of journals for a world.
pub fn known(cli: &Cli, text: &str) -> PathBuf {
    let dir = cli.dir().join(".config/teamlog");
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("journals.toml");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

/// Settings for a journal at a port without a server.
const NOBODY: &str = "[journals.main]\nurl = \"postgres://ada@127.0.0.1:1/teamlog\"\n";

#[test]
fn what_is_wrong_with_the_journals_file_is_said() {
    for (text, exit, code) in [
        ("", 78, "journal_not_configured"),
        (
            "[journals.other]\nurl = \"postgres://a@localhost/b\"\n",
            78,
            "journal_not_configured",
        ),
        ("journals = 1", 1, "invalid_input"),
        (
            "[journals.main]\nurl = \"postgres://a@localhost/b\"\nspeed = 1\n",
            1,
            "invalid_input",
        ),
        (
            "[journals.main]\nurl = \"http://localhost\"\n",
            1,
            "invalid_input",
        ),
        (
            "[journals.main]\nurl = \"postgres://a@db1/b?sslmode=require\"\n",
            1,
            "invalid_input",
        ),
        (
            "[journals.main]\nurl = \"postgres://a@db1/b\"\nsslcert = \"ada.pem\"\n",
            1,
            "invalid_input",
        ),
        (
            "[journals.main]\nurl = \"postgres://a:secret@localhost/b\"\n",
            1,
            "secret_in_url",
        ),
        (
            "[journals.main]\nurl = \"postgres://a@localhost/b\"\nconnect_timeout = 0\n",
            1,
            "invalid_input",
        ),
        (
            "[journals.main]\nurl = \"postgres://a@localhost/b\"\ndurability = \"raid\"\n",
            1,
            "invalid_input",
        ),
        (NOBODY, 75, "journal_unreachable"),
    ] {
        let cli = Cli::new();
        known(&cli, text);
        for line in [
            "init demo --journal main",
            "join demo --journal main",
            "journal check main",
        ] {
            let error = cli.refused_json(exit, line);
            assert_eq!(error.code, code, "{text} {line}: {}", error.message);
            assert!(!error.message.contains("secret@"), "{}", error.message);
        }
        assert!(!cli.dir().join("teams").exists(), "{text}");
    }
}

#[test]
fn a_journals_file_or_passfile_that_others_can_read_is_refused() {
    let cli = Cli::new();
    let file = known(&cli, NOBODY);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        cli.refused_json(1, "journal check main").code,
        "key_exposed"
    );
    for field in ["passfile", "sslkey"] {
        let secret = cli.file(field, "*:*:*:*:p");
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).unwrap();
        known(
            &cli,
            &format!("{NOBODY}{field} = \"{}\"\n", secret.display()),
        );
        assert_eq!(
            cli.refused_json(1, "journal check main").code,
            "key_exposed",
            "{field}"
        );
    }
}

#[test]
fn a_journal_on_nats_is_refused_and_the_other_entries_count() {
    let cli = Cli::new();
    let nats = "[journals.old]\nurl = \"nats://localhost\"\ncreds = \"c\"\nmonitors = [\"http://localhost\"]\n";
    known(&cli, &format!("{nats}{NOBODY}"));
    let error = cli.refused_json(78, "init demo --journal old");
    assert_eq!(error.code, "journal_not_configured");
    let other = cli.refused_json(75, "journal check main");
    assert_eq!(other.code, "journal_unreachable");
}

#[test]
fn a_team_on_a_kind_of_journal_that_is_not_supported_is_read_and_left() {
    let cli = Cli::with_team();
    let file = cli.dir().join("teams/demo/log.json");
    let identity = Identity::decode(&file, &std::fs::read(&file).unwrap()).unwrap();
    let journal = JournalIdentity {
        kind: "nats".into(),
        id: "00000000-0000-4000-8000-000000000000".into(),
        segment_bytes_max: 64 << 20,
    };
    let joined = Identity {
        journal: Some(journal),
        ..identity
    };
    std::fs::write(&file, joined.encode()).unwrap();
    assert_eq!(cli.run("status demo").code, Some(0));
    for line in ["append demo --kind told", "journal leave demo"] {
        let error = cli.refused_json(78, line);
        assert_eq!(error.code, "journal_not_configured", "{line}");
        let hint = error.hint.unwrap_or_default();
        assert!(
            hint.contains("journal leave demo --offline"),
            "{line}: {hint}"
        );
    }
    cli.ok("journal leave demo --offline");
    cli.ok("append demo --kind told");
    assert!(cli.ok("replay demo").contains("log_journal_left"));
}

#[test]
fn a_team_on_this_host_alone_has_no_journal() {
    let cli = Cli::with_team();
    assert_eq!(
        cli.refused_json(1, "journal status demo").code,
        "journal_none"
    );
}

fn journal(cluster: &Cluster) -> String {
    let url = cluster.config("").url;
    format!("[journals.main]\nurl = \"{url}\"\n")
}

/// Creates three hosts that have the journal in their settings.
fn three(cluster: &Cluster) -> [Cli; 3] {
    std::array::from_fn(|number| {
        let cli = Cli::new();
        let text = format!("{}host = \"host-{number}\"\n", journal(cluster));
        known(&cli, &text);
        cli
    })
}

fn segments(cli: &Cli) -> Vec<(String, Vec<u8>)> {
    let dir = cli.dir().join("teams/demo/events");
    let files = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(&path).unwrap())
    };
    let mut segments: Vec<_> = files.map(read).collect();
    segments.sort();
    segments
}

/// Copies a directory with its contents.
fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_all(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Returns a segment of the log below a directory.
fn first_segment(dir: &Path) -> PathBuf {
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => dirs.push(path),
                false if path.parent().unwrap().ends_with("events") => return path,
                false => {}
            }
        }
    }
    panic!("no segment");
}

/// Syncs all hosts with the journal, and checks that their logs are equal.
pub fn check_equal(hosts: &[Cli]) {
    let state = |cli: &Cli| {
        cli.ok("join demo --journal main");
        cli.ok("verify demo");
        let status: Value = cli.json("status demo --digest");
        let receipt: Value = cli.json("head demo");
        let same = [&status["state_digest"], &receipt["seq"], &receipt["chain"]];
        (same.map(Value::clone), segments(cli))
    };
    let first = state(&hosts[0]);
    for host in &hosts[1..] {
        assert!(state(host) == first, "the hosts differ");
    }
}

#[test]
fn three_data_roots_write_one_team() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let hosts = three(&cluster);
    let first = &hosts[0];
    assert_eq!(
        first.refused_json(78, "journal check main").code,
        "journal_of_another"
    );
    first.ok("journal create main --json");
    first.ok("journal check main --json");
    assert_eq!(
        first.refused_json(1, "join demo --journal main").code,
        "not_in_journal"
    );
    first.ok("init demo --members lead,dev,qa --journal main --json");
    for host in &hosts[1..] {
        let taken = host.refused_json(1, "init demo --members lead --journal main");
        assert_eq!(taken.code, "journal_refused");
        host.ok("join demo --journal main --json");
    }
    assert_eq!(
        first.refused_json(1, "convert demo --to binary").code,
        "journal_team"
    );
    reads_can_demand_what_others_recorded(&hosts);
    answers_say_how_new_they_are(&hosts[1]);
    claims_meet(&hosts);
    check_equal(&hosts);
    let status: Value = first.json("journal status demo");
    assert_eq!(status["last_seq"], status["here"]);
    assert_eq!(status["hosts"].as_array().unwrap().len(), 3);
    the_primary_dies(&mut cluster, &hosts);
    check_equal(&hosts);
}

#[test]
fn a_managed_journal_counts_no_copies_and_says_what_is_not_verified() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let plain = journal(&cluster);
    let external = format!("{plain}durability = \"external\"\n");
    let hosts: [Cli; 2] = std::array::from_fn(|_| Cli::new());
    let first = &hosts[0];
    for host in &hosts {
        known(host, &external);
    }
    let contradicts = first.refused_json(2, "journal create main --min-copies 2");
    assert!(
        contradicts
            .message
            .contains("--min-copies cannot be used with journal"),
        "{contradicts:?}"
    );
    let made: Value = first.json("journal create main");
    assert_eq!(
        (&made["durability"], &made["min_copies"]),
        (&Value::from("external"), &Value::from(1))
    );
    // Creates a role without the right to execute the two functions in `revoke`.
    cluster.sql_in(
        0,
        "journal",
        "create role app login; grant teamlog_host_role to app; \
         revoke execute on function pg_current_wal_lsn(), pg_control_system() from public",
    );
    let as_app = |text: &str| text.replace("teamlog@", "app@");
    for host in &hosts {
        known(host, &as_app(&external));
    }
    let shown: Value = first.json("journal check main");
    assert_eq!(shown["timeline"], 0);
    let unverified = shown["unverified"].to_string();
    for function in ["pg_current_wal_lsn", "pg_control_system"] {
        assert!(unverified.contains(function), "{unverified}");
    }
    let text = first.ok("journal check main");
    assert!(
        text.contains("durability external, copies are not counted"),
        "{text}"
    );
    assert!(text.contains("not verified: "), "{text}");
    first.ok("init demo --members lead,dev --journal main");
    hosts[1].ok("join demo --journal main");
    hosts[1].ok("append demo --kind told");
    assert!(first.ok("head demo --fresh --json").contains("\"seq\":2"));
    // Without `durability = "external"` in the settings, the refused functions are a permanent
    // fault.
    known(&hosts[1], &as_app(&plain));
    let refused = hosts[1].refused_json(78, "append demo --kind told");
    assert_eq!(refused.code, "journal_denied");
    assert!(
        refused.message.contains("durability = \"external\""),
        "{refused:?}"
    );
}

#[test]
fn a_team_comes_to_a_journal_and_goes_from_it() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let hosts = three(&cluster);
    let [first, second, late] = &hosts;
    first.ok("journal create main");
    first.ok("init demo --members lead,dev");
    let daemon = Daemon::of(first);
    first.ok("task create demo --subject alone");
    let artifact = first.file("plan.txt", "step one");
    first.ok(&format!(
        "artifact put demo {} --name plan.txt",
        artifact.display()
    ));
    let receipt = first.ok("head demo --json");
    let backups = first.dir().join("../backups");
    first.ok(&format!("backup demo {}", backups.display()));
    let adopted: Value = first.json("journal adopt demo --journal main");
    assert_eq!(adopted["changed"], true);
    assert_eq!(adopted["events"], 3);
    let again: Value = first.json("journal adopt demo --journal main");
    assert_eq!(
        (&again["changed"], &again["events"]),
        (&Value::from(false), &Value::from(0))
    );
    // The backup was made before the team had a journal.
    second.ok(&format!(
        "join demo --journal main --from {}",
        backups.display()
    ));
    assert_eq!(second.ok("artifact get demo plan.txt"), "step one");
    second.ok("task create demo --subject together");
    let file = second.file("receipt.json", &receipt);
    second.ok(&format!("verify demo --against {}", file.display()));
    check_equal(&hosts[..2]);
    daemon.kill();

    first.ok(&format!("backup demo {}", backups.display()));
    first.ok("append demo --kind behind_the_backup");
    let from = format!("join demo --journal main --from {}", backups.display());
    let joined: Value = late.json(&from);
    assert_eq!(joined["joined"], true);
    check_equal(&hosts);

    // A trim needs a backup with the removed events, and two hosts that confirmed these events in a deep check.
    let trim = format!(
        "journal trim demo --before 4 --backup {}",
        backups.display()
    );
    assert_eq!(first.refused_json(1, &trim).code, "not_covered");
    for host in &hosts[..2] {
        host.ok("doctor check demo --deep");
    }
    // Truncate a file of the backup. The manifest stays unchanged.
    let damaged = first.dir().join("../damaged");
    copy_all(&backups, &damaged);
    let segment = first_segment(&damaged);
    let bytes = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, &bytes[..bytes.len() / 2]).unwrap();
    let trim_damaged = format!(
        "journal trim demo --before 4 --backup {}",
        damaged.display()
    );
    assert_eq!(first.refused_json(65, &trim_damaged).code, "damaged");
    let removed: Value = first.json(&trim);
    assert_eq!(removed["hosts"].as_array().unwrap().len(), 2);
    assert!(removed["groups"].as_u64().unwrap() > 1, "{removed}");
    let empty = Cli::new();
    known(&empty, &journal(&cluster));
    let alone = empty.refused_json(1, "join demo --journal main");
    assert_eq!(alone.code, "journal_trimmed");
    empty.ok(&from);
    check_equal(&hosts);

    // Delete the last groups from the journal, as a careless failover does.
    second.ok("append demo --kind lost_1");
    second.ok("append demo --kind lost_2");
    let lost = "delete from teamlog_group where first_seq >= \
        (select max(first_seq) - 1 from teamlog_group where log = (select log from teamlog_log))";
    cluster.sql_in(0, "journal", lost);
    let refused = second.refused_json(65, "append demo --kind told");
    assert_eq!(refused.code, "journal_behind");
    let healed: Value = second.json("journal heal demo");
    assert_eq!(
        (&healed["changed"], &healed["events"]),
        (&Value::from(true), &Value::from(2))
    );
    second.ok("append demo --kind told");
    check_equal(&hosts);

    the_journal_is_mended_from_a_host(&cluster, second);
    assert_eq!(first.json::<Value>("journal leave demo")["changed"], true);
    first.ok("append demo --kind alone_again");
    first.ok("verify demo");
    assert_eq!(
        first.refused_json(1, "journal leave demo").code,
        "journal_none"
    );
    for line in ["append demo --kind late", "journal leave demo"] {
        assert_eq!(second.refused_json(1, line).code, "journal_left");
    }
    second.ok("tasks demo");
    let third = Cli::new();
    known(&third, &journal(&cluster));
    assert_eq!(
        third.refused_json(1, "join demo --journal main").code,
        "journal_left"
    );
    // The team returns with the events that were recorded in the meantime.
    assert_eq!(
        first.json::<Value>("journal adopt demo --journal main")["changed"],
        true
    );
    second.ok("append demo --kind together_again");
    check_equal(&hosts);
    assert!(second.ok("replay demo").contains("alone_again"));
}

/// Checks that changed and removed groups of the journal are found, and are restored from a host.
fn the_journal_is_mended_from_a_host(cluster: &Cluster, host: &Cli) {
    let sound: Value = host.json("journal check demo --deep");
    assert_eq!(sound["deep"]["damaged"].as_array().unwrap().len(), 0);
    let behind_base =
        "select first_seq from teamlog_group where not base order by first_seq offset";
    let damage = format!(
        "set session_replication_role = replica; \
         update teamlog_group set bytes = set_byte(bytes, 3, 7) where first_seq = ({behind_base} 0 limit 1); \
         delete from teamlog_group where first_seq = ({behind_base} 1 limit 1)"
    );
    cluster.sql_in(0, "journal", &damage);
    let found = host.run("journal check demo --deep --json");
    assert_eq!(found.code, Some(65), "{found:?}");
    assert!(found.stderr.contains("journal_damaged"), "{found:?}");
    assert!(
        found.stderr.contains("2 groups of team demo are changed"),
        "{found:?}"
    );
    let examined = host.run("doctor check demo --deep --json");
    assert!(examined.stdout.contains("journal_damaged"), "{examined:?}");
    let mended: Value = host.json("journal check demo --deep --repair");
    assert_eq!(mended["deep"]["repaired"], 2);
    let sound: Value = host.json("journal check demo --deep");
    assert_eq!(sound["deep"]["damaged"].as_array().unwrap().len(), 0);
    cluster.sql_in(
        0,
        "journal",
        "alter table teamlog_artifact rename to elsewhere",
    );
    let missing = host.run("journal check main");
    assert_eq!(missing.code, Some(78), "{missing:?}");
    assert!(
        missing.stderr.contains("table teamlog_artifact is missing"),
        "{missing:?}"
    );
    cluster.sql_in(
        0,
        "journal",
        "alter table elsewhere rename to teamlog_artifact",
    );
    host.ok("journal check main");
}

#[test]
fn a_copy_of_the_journals_database_is_refused_until_a_person_accepts_it() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let [first, second, _] = three(&cluster);
    first.ok("journal create main");
    first.ok("init demo --members lead,dev --journal main");
    second.ok("join demo --journal main");
    second.ok("append demo --kind told");
    let Some(other) = Cluster::start() else {
        return;
    };
    cluster.copy_to(&other);
    known(&second, &journal(&other));
    for line in [
        "append demo --kind told",
        "head demo --fresh",
        "journal heal demo",
    ] {
        assert_eq!(
            second.refused_json(78, line).code,
            "journal_moved",
            "{line}"
        );
    }
    second.ok("status demo --json");
    let checked = second.run("doctor check demo --json").stdout;
    assert!(
        checked.contains("teamlog journal accept-system demo"),
        "{checked}"
    );
    let daemon = Daemon::of(&second);
    let accepted: Value = second.json("journal accept-system demo");
    assert_eq!(accepted["changed"], true);
    second.ok("append demo --kind told");
    let again: Value = second.json("journal accept-system demo");
    assert_eq!(
        (&again["changed"], &again["system"]),
        (&Value::from(false), &accepted["system"])
    );
    daemon.kill();
    known(&second, &journal(&cluster));
    assert_eq!(
        second.refused_json(78, "append demo --kind told").code,
        "journal_moved"
    );
    first.ok("append demo --kind told");
}
