//! Tests of threads and feeds: the folds of any of their events, and the view files of threads.

use crate::support::*;
use teamlog_projections::task::{Attributes, PlanChange};
use teamlog_projections::thread;
use teamlog_projections::thread::event::{
    Posted, ThreadAct, ThreadFact, ThreadLinked, ThreadStarted,
};

/// Returns one of the events of a thread.
pub fn talked(thread: u8, what: u8, by: &str, to: Vec<String>) -> NewEvent {
    let act = match what {
        0 | 1 => ThreadAct::Started(given!(ThreadStarted; title: format!("about {by}"),
            participants: to, task_id: (what == 0).then(|| "1".to_owned()))),
        2 => ThreadAct::Linked(given!(ThreadLinked; task_id: format!("{}", thread + 1))),
        _ => {
            ThreadAct::Posted(given!(Posted; from: by, to, body: format!("said\n{what} \u{1f980}")))
        }
    };
    let fact = given!(ThreadFact; thread_id: thread::id(9_999 + u64::from(thread)), act);
    fact.event(by, None, (what == 4).then_some("tr_4"))
}

/// Compares the rows of every thread with its listed messages.
pub fn check_threads(live: &Live) {
    let listed = live.threads_before(None, usize::MAX).unwrap();
    for pair in listed.windows(2) {
        assert!(pair[0].id.len() >= pair[1].id.len() && pair[0].id != pair[1].id);
    }
    let mut before = None;
    for thread in &listed {
        assert_eq!(live.thread(&thread.id).unwrap().as_ref(), Some(thread));
        let page = live.threads_before(before.as_deref(), 1).unwrap();
        assert_eq!(page, std::slice::from_ref(thread));
        before = Some(thread.id.clone());
        let posts = live.thread_posts(&thread.id, None, usize::MAX).unwrap();
        assert_eq!(posts.seqs.len() as u64, thread.messages);
        assert_eq!(
            posts.seqs.last().copied(),
            thread.last_post.map(|(seq, _)| seq)
        );
    }
    let next = live.next_thread_number().unwrap();
    assert_eq!(live.thread(&thread::id(next)).unwrap(), None);
}

/// Checks that a feed in pages of one entry equals the feed in one page.
pub fn check_feed(live: &Live, agents: &[&str]) {
    for agent in agents {
        let whole = live.feed(agent, 0, usize::MAX).unwrap();
        assert!(!whole.more);
        let (mut since, mut one_by_one) = (0, Vec::<u64>::new());
        loop {
            let page = live.feed(agent, since, 1).unwrap();
            one_by_one.extend(&page.seqs);
            since = page.seqs.first().copied().unwrap_or(since);
            if !page.more {
                break;
            }
        }
        assert_eq!(one_by_one, whole.seqs, "{agent}");
    }
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

fn created(owner: Option<&str>) -> TaskAct {
    TaskAct::Created(
        given!(TaskCreated; subject: "s", description: String::new(), blocked: true,
            owner: owner.map(str::to_owned), depends_on: [], attributes: Attributes::default(), plan: PlanChange::default(),
            priority: Priority::Normal, extra: None, resources: Resources::default()),
    )
}

fn did(act: TaskAct, agent: Option<&str>) -> NewEvent {
    TaskFact::new("1", act).event("lead", agent, None)
}

#[test]
fn everybody_is_told_what_concerns_all_and_each_what_is_its_own() {
    let team = Team::new();
    let held = given!(ClaimRef; worker: "dev", epoch: 1, forced: false);
    let lease = given!(Lease; held: held.clone(), leased_until: at(5));
    let claimed = TaskAct::Claimed(TaskClaimed::new(lease.clone(), "t".to_owned()));
    team.append(vec![
        did(created(Some("dev")), Some("dev")),
        talked(0, 1, "lead", names(&["dev", "qa"])),
        talked(0, 3, "lead", names(&["qa"])),
        did(claimed, Some("dev")),
        did(TaskAct::LeaseExpired(lease), Some("dev")),
        did(TaskAct::Unblocked, Some("qa")),
        did(TaskAct::Unblocked, None),
        did(
            TaskAct::Completed(given!(TaskCompleted; held: held.clone(), result: None::<String>)),
            Some("dev"),
        ),
        did(TaskAct::Released(held), Some("dev")),
    ]);
    team.send(&[crate::mailbox::mail("m1", "qa", "b")]);
    let live = team.live();
    let told = |agent| live.feed(agent, 0, usize::MAX).unwrap().seqs;
    assert_eq!(told("dev"), [2, 5, 6, 8, 9]);
    assert_eq!(told("qa"), [4, 5, 7, 8, 9, 11]);
    assert_eq!(told("stranger"), [5, 8, 9]);
    let page = live.feed("qa", 5, 2).unwrap();
    assert_eq!((page.seqs, page.more), (vec![7, 8], true));
    assert_eq!(live.feed("qa", 11, 2).unwrap(), Default::default());
    assert_eq!(live.feed("qa", u64::MAX, 2).unwrap(), Default::default());
}

#[test]
fn numbers_go_on_behind_the_largest_and_list_the_newest_first() {
    let team = Team::new();
    team.append(vec![
        talked(1, 0, "lead", names(&["dev"])),
        talked(0, 1, "lead", names(&["qa"])),
        talked(2, 3, "lead", names(&["qa"])),
    ]);
    let live = team.live();
    let listed = live.threads_before(None, 9).unwrap();
    let ids: Vec<&str> = listed.iter().map(|thread| &*thread.id).collect();
    assert_eq!(ids, ["thread-10000", "thread-9999"]);
    assert_eq!(live.next_thread_number().unwrap(), 10_001);
    assert_eq!(live.thread("thread-10001").unwrap(), None, "never began");
}

#[test]
fn a_thread_has_views_that_follow_it_and_are_mended() {
    let team = Team::new();
    team.append(vec![talked(0, 0, "lead", names(&["dev", "qa"]))]);
    assert_eq!(
        team.storage.list(&team.path("threads")).unwrap(),
        ["thread-9999.json"]
    );
    team.append(vec![talked(0, 3, "dev", names(&["qa"]))]);
    team.append(vec![
        talked(0, 5, "qa", names(&["dev"])),
        talked(0, 2, "qa", names(&[])),
    ]);
    let head = team.json("threads/thread-9999.json");
    has!(head, {"messages": 2, "taskId": "1", "participants": ["dev", "qa"]});
    let lines = team.view("threads/thread-9999.jsonl");
    let bodies: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["body"].clone())
        .collect();
    assert_eq!(bodies, ["said\n3 \u{1f980}", "said\n5 \u{1f980}"]);
    let known = team.live().thread("thread-9999").unwrap().unwrap();
    assert_eq!(known.view_bytes, lines.len() as u64);
    let views = team.views();

    // Change a byte in the lines, write a head that does not parse, and add the file of a thread that does not exist.
    let path = team.path("threads/thread-9999.jsonl");
    let mut other = lines.clone().into_bytes();
    other[9] ^= 1;
    team.storage.replace(&path, &other, false).unwrap();
    for name in ["thread-9999.json", "thread-7.jsonl"] {
        let path = team.path("threads").join(name);
        team.storage.replace(&path, b"{}", false).unwrap();
    }
    let exclusive = team.log.lock().unwrap();
    let reader = exclusive.reader();
    let found = ViewsSource::new(&team.log)
        .against(&team.live(), &reader)
        .unwrap();
    let faults: Vec<_> = found
        .faults
        .iter()
        .map(|one| (&*one.file, one.what))
        .collect();
    assert_eq!(
        faults,
        [
            ("threads/thread-9999.json", "differs"),
            ("threads/thread-9999.jsonl", "differs"),
            ("threads/thread-7.jsonl", "unknown")
        ]
    );
    let (mended, _) = rehydrate(&team.log, &reader, 1, &mut |_| {}).unwrap();
    assert_eq!((mended.views.written, mended.views.removed), (2, 1));
    assert_eq!(team.views(), views);
    drop(exclusive);

    // A missing line is detected by the length of the file alone.
    team.storage.replace(&path, b"", false).unwrap();
    team.append(vec![talked(0, 6, "qa", names(&["dev"]))]);
    assert!(team.view("threads/thread-9999.jsonl").starts_with(&lines));
}
