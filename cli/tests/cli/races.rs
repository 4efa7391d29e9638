//! Many processes on one team. Exactly one of several conflicting requests succeeds.

use crate::prelude::*;
use std::sync::Barrier;
use std::thread;

const RACERS: usize = 8;
const ROUNDS: usize = 60;

/// Runs an operation as a process. Returns its data, or the error code.
fn api(cli: &Cli, operation: &str, input: &Value) -> Result<Value, String> {
    let output = cli
        .command("")
        .args(["api", operation, "--input", &input.to_string(), "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut envelope: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    match envelope["ok"] == true {
        true => {
            assert_eq!(output.status.code(), Some(0));
            Ok(envelope["data"].take())
        }
        false => {
            assert_eq!(output.status.code(), Some(1));
            Err(envelope["error"]["code"].as_str().unwrap().to_owned())
        }
    }
}

/// Runs all racers. In each round, all racers start at the same time. Returns the result of each racer per round.
fn race(
    round: impl Fn(usize, usize) -> Result<Value, String> + Sync,
) -> Vec<Vec<Result<Value, String>>> {
    let barrier = Barrier::new(RACERS);
    let run = |racer| {
        (0..ROUNDS)
            .map(|at| {
                barrier.wait();
                round(racer, at)
            })
            .collect::<Vec<_>>()
    };
    let mut racers: Vec<Vec<_>> = thread::scope(|scope| {
        let running: Vec<_> = (0..RACERS)
            .map(|racer| scope.spawn(move || run(racer)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        rounds.push(racers.iter_mut().map(|racer| racer.remove(0)).collect());
    }
    rounds
}

fn only_one_won(results: &[Result<Value, String>], refusal: &str) {
    let won = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(won, 1, "{results:?}");
    for lost in results.iter().filter_map(|result| result.as_ref().err()) {
        assert_eq!(lost, refusal);
    }
}

fn team() -> Cli {
    let cli = Cli::new();
    let members: Vec<String> = (0..RACERS).map(|racer| format!("worker-{racer}")).collect();
    cli.ok(&format!("init demo --members {}", members.join(",")));
    cli
}

#[test]
fn one_of_many_processes_gets_a_task() {
    let cli = team();
    for at in 0..ROUNDS {
        let input = json!({"team_name": "demo", "subject": format!("task {at}"), "description": "all of it"});
        api(&cli, "create-task", &input).unwrap();
    }
    let rounds = race(|racer, at| {
        let mut input = json!({
            "team_name": "demo",
            "task_id": (at + 1).to_string(),
            "worker": format!("worker-{racer}"),
        });
        if racer % 2 == 0 {
            input["expected_version"] = json!(1);
        }
        api(&cli, "claim-task", &input)
    });
    for results in &rounds {
        only_one_won(results, "claim_conflict");
    }
    let status: Value = serde_json::from_str(&cli.ok("status demo --json")).unwrap();
    assert_eq!(status["tasks_by_status"]["in_progress"], ROUNDS);
    live_is_rebuilt(&cli);
}

#[test]
fn every_task_that_many_processes_take_next_goes_to_one() {
    let cli = team();
    for at in 0..ROUNDS {
        let input = json!({"team_name": "demo", "subject": format!("task {at}"), "description": "all of it"});
        api(&cli, "create-task", &input).unwrap();
    }
    let taken = thread::scope(|scope| {
        let run = |racer: usize| {
            let input = json!({"team_name": "demo", "worker": format!("worker-{racer}")});
            let mut taken = Vec::new();
            loop {
                let data = api(&cli, "claim-next-task", &input).unwrap();
                match data["task"]["id"].as_str() {
                    Some(id) => taken.push(id.parse::<usize>().unwrap()),
                    None => return taken,
                }
            }
        };
        let running: Vec<_> = (0..RACERS)
            .map(|racer| scope.spawn(move || run(racer)))
            .collect();
        let mut taken: Vec<usize> = running
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect();
        taken.sort_unstable();
        taken
    });
    assert_eq!(taken, (1..=ROUNDS).collect::<Vec<_>>());
}

#[test]
fn one_of_many_processes_updates_the_version_that_all_saw() {
    let cli = team();
    let input = json!({"team_name": "demo", "subject": "contended", "description": "all of it"});
    api(&cli, "create-task", &input).unwrap();
    let rounds = race(|racer, at| {
        let input = json!({
            "team_name": "demo",
            "task_id": "1",
            "subject": format!("{at} by {racer}"),
            "expected_version": at + 1,
        });
        api(&cli, "update-task", &input)
    });
    for results in &rounds {
        only_one_won(results, "version_conflict");
    }
    let read = api(
        &cli,
        "read-task",
        &json!({"team_name": "demo", "task_id": "1"}),
    )
    .unwrap();
    assert_eq!(read["task"]["version"], ROUNDS + 1);
    let last = rounds.last().unwrap().iter().flatten().next().unwrap();
    assert_eq!(read["task"]["subject"], last["task"]["subject"]);
}

#[test]
fn many_processes_send_and_nothing_is_lost_or_doubled() {
    let cli = team();
    // Half of the racers send an identical message. This message must be recorded exactly once.
    let rounds = race(|racer, at| {
        let (from, body) = match racer % 2 {
            0 => ("worker-0".to_owned(), format!("round {at}")),
            _ => (format!("worker-{racer}"), format!("{racer} in round {at}")),
        };
        let input = json!({"team_name": "demo", "from_worker": from, "to_worker": "worker-7", "body": body});
        api(&cli, "send-message", &input)
    });
    for results in &rounds {
        let mut ids: Vec<&str> = results
            .iter()
            .map(|result| {
                result.as_ref().unwrap()["message"]["message_id"]
                    .as_str()
                    .unwrap()
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 1 + RACERS / 2);
    }
    let input = json!({"team_name": "demo", "worker": "worker-7"});
    let mailbox = api(&cli, "mailbox-list", &input).unwrap();
    assert_eq!(mailbox["count"], ROUNDS * (1 + RACERS / 2));
    live_is_rebuilt(&cli);
}

fn live_is_rebuilt(cli: &Cli) {
    let digest = |line: &str| -> Value {
        let answer: Value = serde_json::from_str(&cli.ok(line)).unwrap();
        answer["state_digest"].clone()
    };
    let live = digest("status demo --digest --json");
    assert!(live.is_string());
    assert_eq!(digest("rehydrate demo --json"), live);
    cli.ok("verify demo");
}

#[test]
fn a_claim_survives_a_crash_and_its_lease_runs_out_after_a_restart() {
    let cli = team();
    let create = json!({"team_name": "demo", "subject": "one", "description": "all of it"});
    api(&cli, "create-task", &create).unwrap();
    let claim = |worker: &str, lease: u64| json!({"team_name": "demo", "task_id": "1", "worker": worker, "lease_ms": lease});
    let held = api(&cli, "claim-task", &claim("worker-0", 3_000)).unwrap();
    // Kill other processes while they try to claim the task. The recorded claim stays.
    for delay in 0..20_u64 {
        let mut killed = cli
            .command("")
            .args([
                "api",
                "claim-task",
                "--input",
                &claim("worker-1", 3_000).to_string(),
                "--json",
            ])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(std::time::Duration::from_micros(delay * 400));
        let _ = killed.kill();
        let _ = killed.wait();
    }
    // Derived files may be lost when a process is killed.
    let _ = std::fs::remove_dir_all(cli.dir().join("teams/demo/derived"));
    let read = || {
        api(
            &cli,
            "read-task",
            &json!({"team_name": "demo", "task_id": "1"}),
        )
        .unwrap()
    };
    let first = read();
    assert_eq!(first["task"]["epoch"], held["task"]["epoch"]);
    let taken = until_some("the lease ends", || {
        let taken = api(&cli, "claim-task", &claim("worker-2", 60_000));
        taken.inspect_err(|code| assert_eq!(code, "claim_conflict"))
    });
    assert_eq!(taken["task"]["owner"], "worker-2");
    assert!(taken["epoch"].as_u64() > held["epoch"].as_u64());
    let late = json!({
        "team_name": "demo", "task_id": "1", "from": "in_progress", "to": "completed",
        "claim_token": held["claimToken"],
    });
    shows!(api(&cli, "transition-task-status", &late).unwrap_err() => is "claim_conflict");
    let trace = cli.ok("replay demo --kind task_lease_expired --json");
    let expired: Value = serde_json::from_str(trace.lines().next().unwrap()).unwrap();
    assert_eq!(expired["payload"]["worker"], "worker-0");
    live_is_rebuilt(&cli);
}
