//! Writers that fail in the slot of a team that stays open.

use super::*;
use crate::handle::root::Root;
use crate::lifecycle::init::Init;
use teamlog_engine::internals::storage::{Fault, Faulty};
use teamlog_engine::storage::Memory;
use teamlog_engine::{Durability, Json, NewEvent};

type Recorded = Result<Commit<()>, CommitError<Failure>>;

fn record(writer: &Writer<Live>) -> Recorded {
    writer.commit(Durability::Synced, |_, _| {
        let payload = Json::parse("{}").unwrap();
        let mut event = NewEvent::new("noted", "lead", payload);
        event.foreign = true;
        Ok(((), vec![event]))
    })
}

/// Returns an open team on a storage that can fail.
fn team_of_its_own() -> (Faulty, Team, Arc<OpenTeam>) {
    let faulty = Faulty::new(Arc::new(Memory::new()));
    let root = Root::on(Arc::new(faulty.clone()), RootOptions::default()).resident();
    // The team has no view files, because their delayed writes would disturb the counts of calls.
    let init = Init {
        no_views: true,
        ..Init::for_team("demo")
    };
    root.init(init).unwrap();
    let open_team = root.open_teams().unwrap().team("demo");
    (faulty, root.team("demo").unwrap(), open_team)
}

fn fail_next_sync(faulty: &Faulty, open_team: &OpenTeam, team: &Team) {
    let before = faulty.count();
    drop(open_team.commit(team, record).unwrap());
    let calls = faulty.calls();
    let sync = calls[before..]
        .iter()
        .position(|call| call.0 == "sync_data");
    faulty.arm(calls.len() + sync.unwrap(), Fault::Os(5));
}

#[test]
fn a_writer_that_is_found_dead_makes_the_slot_dead_as_well() {
    let (faulty, team, open_team) = team_of_its_own();
    drop(open_team.commit(&team, record).unwrap());
    fail_next_sync(&faulty, &open_team, &team);
    let late = open_team.commit(&team, |writer| {
        // The first call acts as another thread that has not reached the slot yet.
        record(writer).unwrap_err();
        record(writer)
    });
    let late = late.map(drop).unwrap_err();
    assert!(matches!(late.engine(), Some(Error::Poisoned(_))), "{late}");
    let WriterSlot::Dead(why) = &*open_team.read() else {
        panic!("the slot could be taken again");
    };
    assert!(why.contains("cannot sync"), "{why}");
}

#[test]
fn taking_out_a_writer_whose_sync_failed_makes_the_slot_dead() {
    for how in ["pause", "close", "another log"] {
        let (faulty, team, open_team) = team_of_its_own();
        drop(open_team.commit(&team, record).unwrap());
        fail_next_sync(&faulty, &open_team, &team);
        {
            let slot = open_team.filled(&team).unwrap();
            let WriterSlot::Taken { writer, .. } = &*slot else {
                panic!("the slot is empty");
            };
            record(writer).unwrap_err();
        }
        match how {
            "pause" => drop(open_team.pause()),
            "close" => drop(open_team.close()),
            _ => {
                if let WriterSlot::Taken { log, .. } = &mut *open_team.write() {
                    *log = team_of_its_own().1.log.clone();
                }
                open_team.open(&team).unwrap_err();
            }
        }
        assert!(open_team.is_dead(), "{how}");
    }
}

#[test]
fn a_command_replaces_a_writer_that_failed_before_the_command_began() {
    let (faulty, team, open_team) = team_of_its_own();
    drop(open_team.commit(&team, record).unwrap());
    let before = faulty.count();
    drop(open_team.commit(&team, record).unwrap());
    let calls = faulty.calls();
    let write = calls[before..]
        .iter()
        .position(|call| call.0.starts_with("write"));
    faulty.arm(calls.len() + write.unwrap(), Fault::ShortWrite);
    {
        // Acts as another thread, whose write fails and which has not emptied the slot yet.
        let slot = open_team.filled(&team).unwrap();
        let WriterSlot::Taken { writer, .. } = &*slot else {
            panic!("the slot is empty");
        };
        record(writer).unwrap_err();
        assert!(writer.is_poisoned());
    }
    drop(open_team.commit(&team, record).unwrap());
}
