//! Tests of the runs of the derived store: kept, merged, damaged and replaced.

use super::*;

#[test]
fn a_long_tail_is_folded_in_bulk_and_kept_as_runs() {
    let team = Team::empty(Format::Jsonl);
    team.append(vec![created(&AGENTS, false)]);
    for group in 0..10 {
        let sent = (0..500).map(|n| plain(&format!("m{group}-{n}"), AGENTS[n % 3], 1).sent());
        team.force(sent.map(Result::unwrap).collect());
    }
    let live = team.live();
    assert_eq!(live.counts().unwrap().messages, 5000);
    assert!(
        team.storage
            .stat(&derived_dir(team.log.dir()))
            .unwrap()
            .is_some()
    );
    assert_eq!(
        live.place(2500).unwrap(),
        team.log.reader().unwrap().find_seq(2500).unwrap()
    );
}

#[test]
fn merging_runs_keeps_what_is_in_none_of_them() {
    let team = Team::new();
    let send = |n: usize| plain(&format!("m{n}"), AGENTS[n % 3], 1).sent().unwrap();
    for n in 0..10 {
        team.append(vec![send(n)]);
        team.live().flush().unwrap();
    }
    team.append(vec![send(10)]);
    let mut live = team.live();
    let digest = live.digest().unwrap();
    assert!(live.store().runs().len() >= 10);
    live.merge_runs(u64::MAX).unwrap();
    assert!(live.store().runs().len() < 9);
    assert_eq!(live.counts().unwrap().messages, 11);
    assert_eq!(live.digest().unwrap(), digest);
    assert_eq!(team.live().digest().unwrap(), digest);
}

#[test]
fn runs_that_others_merged_away_are_opened_anew_and_not_folded_again() {
    let team = Team::new();
    for n in 0..10 {
        team.append(vec![
            plain(&format!("m{n}"), AGENTS[n % 3], 1).sent().unwrap(),
        ]);
        team.live().flush().unwrap();
    }
    let (mut late, mut held) = (team.live(), team.live());
    held.hold().unwrap();
    let digest = team.live().digest().unwrap();
    team.live().store().merge_all().unwrap().unwrap();
    let merged = runs(&team);
    assert_eq!(merged.len(), 1);
    assert!(late.digest().is_err_and(|error| error.is_derived()));
    late.repair().unwrap();
    assert_eq!(late.digest().unwrap(), digest);
    assert_eq!(runs(&team), merged);
    assert_eq!(late.store().covered(), held.store().covered());
    assert_eq!(held.digest().unwrap(), digest);
}

#[test]
fn a_damaged_run_is_replaced() {
    let team = Team::new();
    let dir = derived_dir(team.log.dir());
    for part in 0..9 {
        for n in 0..3 {
            let sent: Vec<_> = (0..40)
                .map(|i| {
                    assign(
                        &format!("m{part}-{n}-{i}"),
                        &(i % 17).to_string(),
                        "dev",
                        i,
                        "{}",
                    )
                })
                .collect();
            team.send(&sent);
            team.live().flush().unwrap();
        }
        let digest = Live::at(&team.log, &team.log.reader().unwrap(), u64::MAX)
            .unwrap()
            .digest()
            .unwrap();
        let mut names = team.storage.list(&dir).unwrap();
        names.retain(|name| name.ends_with(".run"));
        let name = &names[part * 5 % names.len()];
        let path = dir.join(name);
        if part == 4 {
            team.storage.remove_file(&path).unwrap();
        } else {
            let original = team.storage.read(&path, 1 << 30).unwrap();
            let at = original.len() * part / 9;
            let file = team.storage.open(&path, OpenMode::Write).unwrap();
            file.write_all_at(&[original[at] ^ 0x55], at as u64)
                .unwrap();
        }
        let mut live = team.live();
        if let Err(error) = live.digest() {
            assert!(error.is_derived(), "{error}");
            live.repair().unwrap();
        }
        assert_eq!(live.digest().unwrap(), digest, "{name}, part {part}");
        assert_eq!(
            team.live().digest().unwrap(),
            digest,
            "{name}, part {part}, the next one"
        );
    }
}

#[test]
fn a_damaged_run_of_a_log_that_may_only_be_read() {
    let team = Team::new();
    let dir = derived_dir(team.log.dir());
    for n in 0..3 {
        let id = |i| format!("m{n}-{i}");
        let sent: Vec<_> = (0..20)
            .map(|i| assign(&id(i), "7", "dev", i, "{}"))
            .collect();
        team.send(&sent);
        team.live().flush().unwrap();
    }
    let digest = team.live().digest().unwrap();
    let writes = ["write_at", "set_len", "rename", "lock", "remove_file"];
    let mut refused = 0;
    for call in 0.. {
        team.live().hold().unwrap();
        let mut runs = team.storage.list(&dir).unwrap();
        runs.retain(|name| name.ends_with(".run"));
        team.storage.remove_file(&dir.join(&runs[0])).unwrap();
        let faulty = Faulty::new(team.storage.clone());
        faulty.arm(call, Fault::Error(std::io::ErrorKind::ReadOnlyFilesystem));
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let log = Log::open(storage, team.log.dir(), team.log.options().clone());
        let loaded = log.map_err(Error::from).and_then(|log| {
            let mut live = Live::load(&log, &log.reader()?)?;
            match live.digest() {
                Err(error) if error.is_derived() => live.repair()?,
                _ => {}
            }
            live.digest()
        });
        match faulty.calls().get(call) {
            None => break,
            Some((name, _)) if writes.contains(name) => {
                assert_eq!(loaded.unwrap(), digest, "{name} refused");
                refused += 1;
            }
            // A failed read is an error, but never a wrong answer.
            Some(_) => assert!(loaded.is_err() || loaded.is_ok_and(|found| found == digest)),
        }
    }
    assert!(refused >= 3, "{refused}");
}

#[test]
fn a_message_id_that_a_log_holds_twice_counts_once() {
    let team = Team::new();
    let twice = assign("m1", "1", "dev", 1, r#"{"subject":"S"}"#);
    team.send(&[twice.clone(), twice.clone()]);
    team.send(&[twice]);
    let (digest, views) = (team.live().digest().unwrap(), team.views());
    assert_eq!(team.live().agent("dev").unwrap().received, 1);
    let task = team.live().task("1").unwrap().unwrap();
    assert_eq!(
        (task.snapshot_version, task.seq),
        (1, 2),
        "an equal key is not newer"
    );
    assert_eq!(team.view("inboxes/dev.jsonl").lines().count(), 1);
    let exclusive = team.log.lock().unwrap();
    let bulk = Bulk::new(2);
    let (found, _) = rehydrate_with(&team.log, &exclusive.reader(), bulk, &mut |_| {}).unwrap();
    assert_eq!((found.digest, team.views()), (digest, views));
}
