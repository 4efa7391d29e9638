//! Steps of the tests with several hosts: reads that require new data, competing claims, and the end of the primary.

use super::*;

/// Checks that a host answers from local data unless an option requires newer data, and that a daemon follows the journal.
pub fn reads_can_demand_what_others_recorded(hosts: &[Cli; 3]) {
    let seq = |cli: &Cli, line: &str| -> u64 {
        let head: Value = cli.json(line);
        head["seq"].as_u64().unwrap()
    };
    let before = seq(&hosts[1], "head demo");
    hosts[0].ok("append demo --kind told_1");
    let told = seq(&hosts[0], "head demo");
    assert_eq!(seq(&hosts[1], "head demo"), before);
    assert_eq!(seq(&hosts[1], "head demo --fresh"), told);
    hosts[0].ok("append demo --kind told_2");
    assert_eq!(
        seq(&hosts[1], &format!("head demo --at-least {told}")),
        told
    );
    let at_least = told + 1;
    assert_eq!(
        seq(&hosts[1], &format!("head demo --at-least {at_least}")),
        at_least
    );
    // Without a daemon, `wait` also notices an event of another host.
    let arrived = thread::scope(|scope| {
        let waiting = scope.spawn(|| hosts[1].ok("wait demo --agent qa --timeout 30 --json"));
        thread::sleep(Duration::from_millis(500));
        hosts[0].ok("send demo --from lead --to qa --type message");
        waiting.join().unwrap()
    });
    assert!(arrived.contains("\"arrived\""), "{arrived}");
    let at_least = seq(&hosts[1], "head demo --fresh");
    let unknown = hosts[1].refused_json(1, "head demo --at-least 999");
    assert_eq!(unknown.code, "point_unknown");
    let daemon = Daemon::of(&hosts[1]);
    hosts[0].ok("append demo --kind told_3");
    assert_eq!(seq(&hosts[1], "head demo --fresh"), at_least + 1);
    hosts[0].ok("append demo --kind told_4");
    until("the daemon follows", || {
        seq(&hosts[1], "head demo") >= at_least + 2
    });
    daemon.kill();
}

/// Checks that answers say when the journal was read. If the journal does not answer, a read still
/// answers from local data, unless `--max-stale` requires newer data.
pub fn answers_say_how_new_they_are(host: &Cli) {
    for line in [
        "status demo",
        "tasks demo",
        "ready demo --agent dev",
        "who demo",
        "read demo --agent dev",
        "head demo",
        "thread list demo",
        "mode list demo",
        "bootstrap list demo",
        "config list demo",
        "artifact list demo",
    ] {
        let answer: Value = host.json(line);
        let as_of = &answer["as_of"];
        assert!(
            as_of["seq"].as_u64().is_some() && as_of["checked_at"].is_string(),
            "{line}: {answer}"
        );
    }
    let past: Value = host.json("status demo --at 1");
    assert!(past["as_of"].is_null(), "the past does not change: {past}");
    let known_to =
        std::fs::read_to_string(host.dir().join(".config/teamlog/journals.toml")).unwrap();
    known(host, NOBODY);
    host.ok("status demo --max-stale 3600");
    let old = host.refused_json(75, "status demo --max-stale 0");
    assert_eq!(old.code, "journal_unreachable");
    known(host, &known_to);
    host.ok("status demo --max-stale 0");
}

/// Claims each task on all hosts concurrently. The second host has a daemon.
pub fn claims_meet(hosts: &[Cli; 3]) {
    let daemon = Daemon::of(&hosts[1]);
    for number in 1..=6 {
        hosts[number % 3].ok(&format!("task create demo --subject work-{number}"));
        let won: usize = thread::scope(|scope| {
            let claims: Vec<_> = hosts
                .iter()
                .zip(["lead", "dev", "qa"])
                .map(|(host, worker)| {
                    let line = format!("task claim demo {number} --worker {worker} --json");
                    scope.spawn(move || host.run(&line))
                })
                .collect();
            let ran = claims.into_iter().map(|claim| claim.join().unwrap());
            ran.map(|ran| match ran.code {
                Some(0) => 1,
                _ => {
                    assert!(ran.stderr.contains("claim_conflict"), "{ran:?}");
                    0
                }
            })
            .sum()
        });
        assert_eq!(won, 1, "task {number}");
    }
    daemon.kill();
}

/// Records events on all hosts while the primary is killed and a standby is promoted.
pub fn the_primary_dies(cluster: &mut Cluster, hosts: &[Cli; 3]) {
    let daemon = Daemon::of(&hosts[2]);
    record_while(hosts, || {
        thread::sleep(Duration::from_secs(1));
        cluster.kill(0);
        thread::sleep(Duration::from_millis(500));
        let (better, other) = match cluster.received(1) >= cluster.received(2) {
            true => (1, 2),
            false => (2, 1),
        };
        cluster.promote(better, other);
        cluster.wait_for_standbys(better, 1);
        thread::sleep(Duration::from_secs(2));
    });
    daemon.kill();
}

/// Records events on all hosts while `disturb` runs. Checks that each acknowledged event exists once.
fn record_while(hosts: &[Cli], disturb: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    let acked: Vec<Vec<String>> = thread::scope(|scope| {
        let working = hosts.iter().enumerate().map(|(number, host)| {
            let stop = &stop;
            scope.spawn(move || record(host, number, stop))
        });
        let working: Vec<_> = working.collect();
        disturb();
        stop.store(true, Ordering::SeqCst);
        working.into_iter().map(|one| one.join().unwrap()).collect()
    });
    insist(&hosts[0], "join demo --journal main");
    let replayed = hosts[0].ok("replay demo --kind task_created --json");
    let keys: Vec<String> = replayed
        .lines()
        .filter_map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["key"].as_str().map(str::to_owned)
        })
        .collect();
    let unique: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(unique.len(), keys.len(), "a key was recorded twice");
    for key in acked.concat() {
        assert!(unique.contains(&key), "{key} was acknowledged");
    }
}

/// Repeats a command until it succeeds, because the journal may have just lost its primary. Also repeats after an unknown
/// outcome.
fn insist(host: &Cli, line: &str) {
    let since = Instant::now();
    loop {
        match host.run(line) {
            Ran { code: Some(0), .. } => return,
            Ran {
                code: Some(74 | 75 | 78),
                ..
            } if since.elapsed() < Duration::from_secs(120) => {
                thread::sleep(Duration::from_millis(100));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Records tasks one after another until `stop`, and at least a few. Returns the keys of the acknowledged tasks.
fn record(host: &Cli, number: usize, stop: &AtomicBool) -> Vec<String> {
    let mut acked = Vec::new();
    for count in 0.. {
        if count > 3 && stop.load(Ordering::SeqCst) {
            break;
        }
        let key = format!("k-{number}-{count}");
        let line = format!("task create demo --subject probe --key {key}");
        insist(host, &line);
        acked.push(key);
    }
    acked
}
