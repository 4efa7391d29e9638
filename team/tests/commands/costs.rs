//! Tests of the number of storage calls per command. The number must not depend on the history, and there must be no more syncs than
//! durability needs.

use crate::prelude::*;
use crate::workers::{heartbeat, says};
use teamlog_team::worker::idle::ReadIdle;

/// Creates a team without views, so that only calls for the log and its state are counted.
fn plain(world: &World, format: Format) -> Team {
    world
        .root
        .init(given!(Init, format, no_views: true, ..Init::for_team("demo")))
        .unwrap();
    let mut team = world.root.team("demo").unwrap();
    team.send(message("lead", "dev")).unwrap();
    team
}

/// Returns the storage calls of a command on a newly opened team.
fn calls(world: &World, command: impl FnOnce(&mut Team)) -> BTreeMap<&'static str, u64> {
    let before = world.memory.calls();
    let root = Root::on(world.memory.clone(), world.root.options().clone());
    command(&mut root.team("demo").unwrap());
    let after = world.memory.calls();
    after
        .into_iter()
        .map(|(name, count)| (name, count - before.get(name).copied().unwrap_or(0)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[test]
fn one_send_writes_three_times_and_syncs_once() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        plain(&world, format);
        let calls = calls(&world, |team| {
            drop(team.send(message("lead", "dev")).unwrap())
        });
        let of = |name: &str| calls.get(name).copied().unwrap_or(0);
        assert_eq!(
            of("write_at"),
            3,
            "one group, one head, one witness: {calls:?}"
        );
        assert_eq!(of("sync_data") + of("sync_all"), 1, "{calls:?}");
        assert_eq!(of("sync_dir"), 0, "{calls:?}");
        assert_eq!(of("list"), 0, "{calls:?}");
    }
}

#[test]
fn commands_cost_the_same_on_a_long_history() {
    let world = World::new();
    let mut team = plain(&world, Format::Jsonl);
    let send = |team: &mut Team| drop(team.send(message("lead", "dev")).unwrap());
    let trace = |team: &mut Team| {
        let trace = given!(Trace, trace_id: "tr", limit: 10);
        drop(team.trace(trace).unwrap());
    };
    let read = |team: &mut Team| {
        let read = given!(Read, agent: "dev", limit: 10);
        drop(team.read(read).unwrap());
    };
    let work = |team: &mut Team| {
        let created = team.task_create(crate::claims::new("work"));
        let id = created.unwrap().task.task.task_id;
        let held = team.task_claim(crate::claims::claim(&id, "dev")).unwrap();
        drop(team.task_finish(crate::claims::complete(&held)).unwrap());
        drop(team.claim_next(given!(ClaimNext, worker: "qa")).unwrap());
    };
    let grow = |count: usize| {
        for n in 0..count {
            let trace_id = if n % 7 == 0 { "tr" } else { "other" };
            let task = assign(&format!("t{}", n % 50), "dev");
            team.task_assign(given!(TaskAssign, trace_id, ..task))
                .unwrap();
            team.finish().unwrap();
        }
    };
    let measure = || {
        let all = [
            calls(&world, send),
            calls(&world, trace),
            calls(&world, read),
            calls(&world, work),
        ];
        all.map(|calls| calls.values().sum())
    };
    costs_the_same((700, 6_000), grow, measure);
}

/// Checks that the counts for a short and a long history differ little. More runs cause a few more opens, but there is no cost
/// per event.
fn costs_the_same<const N: usize>(
    (few, many): (usize, usize),
    mut grow: impl FnMut(usize),
    measure: impl Fn() -> [u64; N],
) {
    grow(few);
    let short = measure();
    grow(many);
    for (short, long) in short.into_iter().zip(measure()) {
        assert!(long <= short + 40, "{short} grew to {long}");
    }
}

#[test]
fn a_page_of_the_newest_events_costs_the_same_on_a_long_log_and_says_how_far_it_looked() {
    use teamlog_team::log::events::{Events, Order};
    let world = World::new();
    let mut team = plain(&world, Format::Jsonl);
    let grow = |count: usize| {
        for _ in 0..count {
            let append = Append {
                kind: "deploy_done".into(),
                ..Append::default()
            };
            team.append(append).unwrap();
        }
        team.finish().unwrap();
    };
    let newest = given!(Events, order: Some(Order::Newest));
    let nothing = given!(Events, q: "nowhere", ..newest.clone());
    let page = |asked: &Events| {
        let calls = calls(&world, |team| {
            let page = team.events(asked).unwrap();
            let looked = page.last_seq - page.next_before.flatten().unwrap_or(0);
            assert!(looked <= 20_000, "{looked}");
            assert_eq!(asked.q.is_some(), page.count == 0);
        });
        calls.values().sum()
    };
    costs_the_same((21_000, 21_000), grow, || [page(&newest), page(&nothing)]);
}

#[test]
fn what_a_monitor_reads_costs_the_same_however_many_tasks_were_completed() {
    use teamlog_team::worker::snapshot::{ReadSnapshot, WriteSnapshot};
    let world = World::new();
    let mut team = plain(&world, Format::Jsonl);
    let grow = |count: usize| {
        for _ in 0..count {
            let held = crate::claims::claimed(&mut team, crate::claims::new("work"));
            team.task_finish(crate::claims::complete(&held)).unwrap();
            team.finish().unwrap();
        }
        let snapshot = serde_json::Map::new();
        let snapshot = WriteSnapshot { snapshot };
        team.write_monitor_snapshot(snapshot).unwrap();
        let held = crate::claims::claimed(&mut team, crate::claims::new("new"));
        team.task_finish(crate::claims::complete(&held)).unwrap();
        team.finish().unwrap();
    };
    // Counts the blocks that are read from the state. Runs are memory-mapped, so reading a block
    // makes no storage call.
    let measure = || {
        let root = Root::on(world.memory.clone(), world.root.options().clone());
        let mut team = root.team("demo").unwrap();
        let seen = team.read_monitor_snapshot(ReadSnapshot {}).unwrap();
        let completed = seen.snapshot.unwrap().completed_event_task_ids;
        assert_eq!(completed.len(), 1, "only what is new");
        let blocks = team.query(|live, _| Ok(live.store().blocks_read()));
        [blocks.unwrap()]
    };
    costs_the_same((100, 1_500), grow, measure);
}

#[test]
fn a_claim_reads_what_others_hold_only_where_its_task_declares_something() {
    let world = World::new();
    let mut team = plain(&world, Format::Jsonl);
    for n in 0..600 {
        let resources = vec![format!("src/{n}/main.rs")];
        let task = given!(TaskCreate, resources, ..crate::claims::new("held"));
        crate::claims::claimed(&mut team, task);
        team.finish().unwrap();
    }
    let root = Root::on(world.memory.clone(), world.root.options().clone()).resident();
    let mut team = root.team("demo").unwrap();
    let mut blocks_of = |resources: Vec<String>| {
        let task = given!(TaskCreate, resources, ..crate::claims::new("next"));
        let id = team.task_create(task).unwrap().task.task.task_id;
        let mut read = || {
            team.query(|live, _| Ok(live.store().blocks_read()))
                .unwrap()
        };
        let before = read();
        let mut team = root.team("demo").unwrap();
        team.task_claim(crate::claims::claim(&id, "qa")).unwrap();
        read() - before
    };
    let (none, one) = (blocks_of(vec![]), blocks_of(vec!["docs".into()]));
    assert!(none + 4 < one, "{none} blocks without, {one} with");
}

#[test]
fn what_is_said_of_workers_costs_the_same_on_a_long_history() {
    let world = World::new();
    // With views, a worker's report writes the file of that worker only.
    let mut team = world.demo();
    let states = ["working", "idle"];
    let grow = |count: usize| {
        for n in 0..count {
            let worker = ["dev", "qa"][n / 2 % 2];
            let (beat, status) = (
                heartbeat(worker, n as u32, true),
                says(worker, states[n % 2], None),
            );
            team.update_heartbeat(beat).unwrap();
            team.write_worker_status(status).unwrap();
            team.finish().unwrap();
        }
    };
    let measure = || {
        let all = [
            calls(&world, |team| {
                team.update_heartbeat(heartbeat("dev", 0, true)).unwrap();
            }),
            calls(&world, |team| {
                for state in ["blocked", "done"] {
                    team.write_worker_status(says("dev", state, None)).unwrap();
                }
            }),
            calls(&world, |team| drop(team.summary(GetSummary {}).unwrap())),
            calls(&world, |team| drop(team.idle_state(ReadIdle {}).unwrap())),
            calls(&world, |team| drop(team.stall_state(ReadStall {}).unwrap())),
        ];
        all.map(|calls| calls.values().sum())
    };
    costs_the_same((400, 3_000), grow, measure);
}

#[test]
fn modes_cost_the_same_on_a_long_history() {
    use crate::mode_calls::{active, complete, start, update};
    use teamlog_team::projections::mode::Mode;
    let world = World::new();
    // With views, a change of a mode writes the mode's files and the list of each active session.
    let mut team = world.demo();
    let grow = |count: usize| {
        for n in 0..count {
            let at = format!("s{}", n % 40);
            start(&mut team, Mode::Forge, &at).unwrap();
            let fields = json!({"iteration": n});
            update(&mut team, Mode::Forge, &at, fields).unwrap();
            complete(&mut team, Mode::Forge, &at).unwrap();
            team.finish().unwrap();
        }
    };
    let measure = || {
        let all = [
            calls(&world, |team| {
                drop(start(team, Mode::Blueprint, "x").unwrap())
            }),
            calls(&world, |team| drop(start(team, Mode::Team, "").unwrap())),
            calls(&world, |team| drop(complete(team, Mode::Team, "").unwrap())),
            calls(&world, |team| drop(active(team, "x"))),
        ];
        all.map(|calls| calls.values().sum())
    };
    costs_the_same((150, 1_500), grow, measure);
}
