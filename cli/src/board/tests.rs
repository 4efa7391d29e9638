//! Tests of the board's state after keys and loads, and of the drawn text of each panel. `TEAMLOG_BLESS=1 cargo test
//! -p teamlog` rewrites the pictures beside this file.

use super::clock::Clock;
use super::layout::Panel;
use super::live::Line;
use super::load::Loaded;
use super::state::{Change, Setting, State};
use super::view;
use crate::exit::{CommandError, Exit};
use jiff::tz::{Offset, TimeZone};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use teamlog_team::attention::{AttentionItem, AttentionKind};
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::Task;
use teamlog_team::projections::task::{Claim, ClaimState, Status};
use teamlog_team::worker::who::{LastEvent, WhoAgent, WhoTask};

fn at(clock: &str) -> Timestamp {
    Timestamp::parse(&format!("2026-11-25T{clock}Z")).unwrap()
}

fn setting(columns: u16, rows: u16) -> Setting {
    Setting {
        team: "demo".to_owned(),
        at: None,
        clock: Clock::Local,
        program: "teamlog".to_owned(),
        zone: TimeZone::fixed(Offset::from_hours(2).unwrap()),
        colours: false,
        size: (columns, rows),
        now: at("10:00:00"),
    }
}

fn agent(name: &str, task: Option<(&str, &str)>, last: Option<&str>) -> WhoAgent {
    let working_on = task.map(|(id, until)| WhoTask {
        task_id: id.to_owned(),
        subject: Some("Parse the header".to_owned()),
        status: Status::InProgress,
        updated_at: at("09:59:00"),
        epoch: Some(1),
        leased_until: Some(at(until)),
        lease_left_ms: None,
        reported: None,
        reported_by: None,
        waits_for: Vec::new(),
        waits_for_total: 0,
    });
    WhoAgent {
        agent: name.to_owned(),
        state: None,
        unread: u64::from(name == "cyd") * 3,
        unread_posts: 0,
        last_event: last.map(|last| LastEvent {
            seq: 6,
            kind: "task_claimed".to_owned(),
            at: at(last),
        }),
        working_on_total: working_on.iter().len() as u64,
        working_on: working_on.into_iter().collect(),
        waiting: Vec::new(),
        waiting_total: 0,
    }
}

fn task(id: &str, status: Status, owner: Option<&str>, subject: &str) -> Task {
    Task {
        task_id: id.to_owned(),
        status,
        owner: owner.map(str::to_owned),
        subject: Some(subject.to_owned()),
        ..Task::default()
    }
}

fn line(seq: u64, actor: &str, what: &str) -> Line {
    Line {
        seq,
        at: at("09:59:30"),
        actor: actor.to_owned(),
        kind: "task_claimed".to_owned(),
        foreign: false,
        what: what.to_owned(),
        json: format!("{{\"seq\":{seq}}}"),
    }
}

fn loaded() -> Loaded {
    let mut claimed = task("1", Status::InProgress, Some("ada"), "Parse the header");
    claimed.governed.claim = Some(Claim {
        owner: "ada".to_owned(),
        token: "secret-token".to_owned(),
        leased_until: at("10:12:00"),
        state: ClaimState::Live,
        leased_at: at("09:57:00"),
        session: None,
    });
    claimed.governed.attributes.requires_code_change = Some(true);
    let mut waits = task("3", Status::Blocked, None, "Write 世界 \u{1b}[2J\u{202e}it");
    waits.deps = vec!["2".to_owned()];
    let tasks = vec![
        claimed,
        task("2", Status::Canceled, None, "Old work"),
        waits,
        task("4", Status::Pending, None, "Draw"),
    ];
    let item = AttentionItem {
        task_id: Some("3".to_owned()),
        ..AttentionItem::new(
            AttentionKind::WaitsInVain,
            "waits in vain: 3 for 2".to_owned(),
            "teamlog task show demo 3".to_owned(),
        )
    };
    Loaded {
        more_items: 0,
        seq: 3,
        now: at("10:00:00"),
        agents: vec![
            agent("ada", Some(("1", "10:12:00")), Some("09:59:00")),
            agent("bob", Some(("9", "09:59:59")), Some("08:00:00")),
            agent("cyd", None, None),
        ],
        live_claims: 1,
        tasks: Some((
            tasks,
            BTreeMap::from([("3".to_owned(), vec!["2".to_owned()])]),
        )),
        items: vec![item],
        lines: vec![
            line(1, "lead", "lead created task 1: Parse the header"),
            line(2, "ada", "ada claimed task 1 until 10:12"),
            line(3, "ada", "\u{1b}]0;title\u{7}"),
        ],
        fresh: true,
    }
}

fn board(columns: u16, rows: u16) -> State {
    let mut state = State::new(setting(columns, rows));
    state.update(Change::Loaded(Box::new(loaded())));
    state
}

fn damaged(message: &str, hint: &str) -> Change {
    Change::Failed(CommandError::new(Exit::Damaged, "damaged", message).or_hint(hint))
}

fn typed(state: &mut State, keys: &str) {
    for c in keys.chars() {
        let key = match c {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        assert!(state.update(Change::Key(key)), "left at {c:?}");
    }
}

fn drawn(state: &State) -> String {
    let (columns, rows) = state.setting.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| view::draw(state, frame.buffer_mut()))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for row in 0..rows {
        text.push_str(&view::text_of(buffer, row));
        text.push('\n');
    }
    text
}

#[track_caller]
fn looks_as(name: &str, state: &State) {
    let path = format!(
        "{}/src/board/pictures/{name}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let shown = drawn(state);
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, known, "{path}");
}

#[test]
fn each_panel_looks_as_in_its_picture() {
    let state = board(80, 24);
    looks_as("80x24", &state);
    looks_as("wide", &board(140, 24));
    for (key, name) in [
        ("1", "crew"),
        ("2", "board"),
        ("3", "attention"),
        ("4", "live"),
    ] {
        let mut state = board(40, 12);
        typed(&mut state, key);
        looks_as(&format!("40x12-{name}"), &state);
    }
    let mut state = board(80, 24);
    typed(&mut state, "?");
    looks_as("keys", &state);
    let mut state = board(80, 24);
    typed(&mut state, "2j\n");
    looks_as("task", &state);
    looks_as("10x3", &board(10, 3));
    looks_as("reading", &State::new(setting(80, 24)));
}

#[test]
fn no_size_is_too_small_or_odd() {
    for (columns, rows) in [
        (0, 0),
        (1, 1),
        (1, 50),
        (200, 1),
        (10, 3),
        (49, 17),
        (121, 4),
    ] {
        for keys in ["1", "2j\n", "4kk", "?", "/x", "3\n"] {
            let mut state = board(columns, rows);
            state.update(damaged("the log", "verify"));
            typed(&mut state, keys);
            drawn(&state);
        }
    }
}

#[test]
fn what_agents_wrote_is_made_visible() {
    let mut state = board(140, 40);
    for keys in ["", "2jjj\n", "\u{1b}4\n"] {
        typed(&mut state, keys);
        let shown = drawn(&state);
        let dangerous = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!shown.contains(dangerous), "{shown:?}");
        assert!(shown.contains("\\u{1b}"), "{shown}");
        assert!(!shown.contains("secret-token"), "{shown}");
    }
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    for colours in [true, false] {
        let mut state = board(80, 24);
        state.setting.colours = colours;
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal
            .draw(|frame| view::draw(&state, frame.buffer_mut()))
            .unwrap();
        let cells = &terminal.backend().buffer().content;
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset);
        assert_eq!(coloured, colours);
    }
}

#[test]
fn keys_move_between_panels_and_rows() {
    let mut state = board(80, 24);
    typed(&mut state, "\t");
    assert_eq!(state.panel, Panel::Board);
    state.update(Change::Key(KeyCode::BackTab));
    assert_eq!(state.panel, Panel::Crew);
    typed(&mut state, "jjjjj");
    assert_eq!(state.cursor(Panel::Crew).row, 2);
    state.update(Change::Key(KeyCode::Up));
    assert_eq!(state.cursor(Panel::Crew).row, 1);
    typed(&mut state, "g");
    assert_eq!(state.cursor(Panel::Crew).row, 0);
    state.update(Change::Key(KeyCode::PageDown));
    assert_eq!(state.cursor(Panel::Crew).row, 2);
    for change in [
        Change::Key(KeyCode::Char('q')),
        Change::Key(KeyCode::Esc),
        Change::Interrupt,
    ] {
        let named = format!("{change:?} leaves");
        assert!(!state.update(change), "{named}");
    }
}

#[test]
fn a_filter_leaves_what_holds_it_and_escape_drops_it() {
    let mut state = board(80, 24);
    typed(&mut state, "/ADA\n");
    assert_eq!(state.filter, "ada");
    assert_eq!((state.len(Panel::Crew), state.len(Panel::Live)), (1, 2));
    // The list shows the heading of the status and the task.
    assert_eq!(state.len(Panel::Board), 2);
    assert!(drawn(&state).contains("/ada"));
    typed(&mut state, "\u{1b}");
    assert_eq!(state.len(Panel::Crew), 3);
    // A filter also finds collapsed tasks. `q` is a letter while the filter is typed.
    typed(&mut state, "/old work");
    assert_eq!(state.len(Panel::Board), 2);
    typed(&mut state, "q");
    assert_eq!(state.filter, "old workq");
    assert!(drawn(&state).contains("no match for"), "{}", drawn(&state));
}

#[test]
fn a_status_folds_and_the_same_task_stays_chosen() {
    let mut state = board(80, 24);
    // Four headings and the tasks 1, 3 and 4. The status canceled is collapsed.
    assert_eq!(state.len(Panel::Board), 7);
    typed(&mut state, "2G\n");
    assert_eq!(state.len(Panel::Board), 8);
    typed(&mut state, "gjjj");
    let chosen = |state: &State| {
        let row = state.cursor(Panel::Board).row;
        state.tasks.task(row).map(|task| task.task_id.clone())
    };
    assert_eq!(chosen(&state).as_deref(), Some("3"));
    let mut next = loaded();
    (next.seq, next.fresh) = (4, false);
    if let Some((tasks, _)) = &mut next.tasks {
        tasks.insert(0, task("0", Status::InProgress, None, "First"));
    }
    state.update(Change::Loaded(Box::new(next)));
    assert_eq!(chosen(&state).as_deref(), Some("3"));
}

fn more(from: u64, count: u64) -> Change {
    let lines = (from..from + count).map(|seq| line(seq, "cyd", "x"));
    Change::Loaded(Box::new(Loaded {
        seq: from + count - 1,
        now: at("10:00:01"),
        lines: lines.collect(),
        ..Loaded::default()
    }))
}

fn seqs(state: &State) -> Vec<u64> {
    let rows = 0..state.live.len();
    rows.filter_map(|row| state.live.line(row).map(|line| line.seq))
        .collect()
}

#[test]
fn live_stands_still_counts_and_goes_on_without_a_gap() {
    for pause in ["p", " ", "4k"] {
        let mut state = board(80, 24);
        typed(&mut state, pause);
        state.update(more(4, 200));
        assert_eq!(seqs(&state), [1, 2, 3], "{pause}");
        assert_eq!(state.live.unseen(), 200);
        assert!(drawn(&state).contains("200 new"), "{}", drawn(&state));
        typed(&mut state, "4");
        state.update(Change::Key(KeyCode::End));
        assert_eq!(seqs(&state), (1..=203).collect::<Vec<u64>>());
        assert_eq!(state.cursor(Panel::Live).row, 202);
        state.update(more(204, 1));
        assert_eq!(state.cursor(Panel::Live).row, 203);
    }
}

#[test]
fn live_keeps_no_more_than_it_should() {
    let mut state = board(80, 24);
    for round in 0..3 {
        state.update(more(4 + round * 1_000, 1_000));
    }
    assert_eq!(state.live.len(), super::live::KEPT);
    typed(&mut state, "p");
    let before = seqs(&state);
    for round in 3..33 {
        state.update(more(4 + round * 1_000, 1_000));
    }
    assert_eq!(seqs(&state), before);
    typed(&mut state, "p");
    let last: Vec<u64> = (32_004..33_004).collect();
    assert_eq!(seqs(&state), last);
}

#[test]
fn another_history_replaces_what_was_shown() {
    let mut state = board(80, 24);
    let mut other = loaded();
    other.lines.truncate(1);
    state.update(Change::Loaded(Box::new(other)));
    assert_eq!(seqs(&state), [1]);
}

#[test]
fn leases_fall_with_the_time_alone() {
    let mut state = board(80, 24);
    assert!(drawn(&state).contains("12m left"));
    state.update(Change::Tick(at("10:11:30")));
    assert!(drawn(&state).contains("30s left"));
    state.update(Change::Tick(at("10:12:00")));
    let shown = drawn(&state);
    assert!(
        shown.contains("! ada") && !shown.contains(" left"),
        "{shown}"
    );
}

#[test]
fn times_are_local_utc_and_relative_in_turn() {
    let mut state = board(80, 24);
    assert!(drawn(&state).contains("11:59:30  lead created"));
    typed(&mut state, "t");
    assert!(drawn(&state).contains("09:59:30Z  lead created"));
    typed(&mut state, "t");
    assert!(
        drawn(&state).contains("30s ago  lead created"),
        "{}",
        drawn(&state)
    );
    let yesterday = Timestamp::parse("2026-11-24T21:00:00Z").unwrap();
    let shown = Clock::Utc.show(yesterday, at("10:00:00"), &TimeZone::UTC);
    assert_eq!(shown, "2026-11-24 21:00:00Z");
}

#[test]
fn what_is_wrong_with_the_log_is_said_until_it_is_mended() {
    let mut state = board(80, 24);
    let message = "bytes of an event changed ".repeat(9);
    state.update(damaged(&message, "teamlog verify demo\nmore"));
    let shown = drawn(&state);
    let said = shown.lines().nth(1).unwrap();
    assert!(said.starts_with(" !! damaged: bytes"), "{shown}");
    assert!(said.ends_with("; teamlog verify demo"), "{shown}");
    // The board still shows the data of the last successful read.
    assert!(shown.contains("Parse the header"), "{shown}");
    state.update(Change::Loaded(Box::new(loaded())));
    assert!(!drawn(&state).contains("!!"));
}

#[test]
fn thirty_thousand_tasks_cost_a_frame_no_more_than_thirty() {
    let of = |count: usize| {
        let mut loaded = loaded();
        let tasks = (0..count).map(|id| task(&id.to_string(), Status::Pending, None, "Much"));
        loaded.tasks = Some((tasks.collect(), BTreeMap::new()));
        let mut state = State::new(setting(140, 40));
        state.update(Change::Loaded(Box::new(loaded)));
        typed(&mut state, "2G");
        let best = (0..20).map(|_| {
            let began = Instant::now();
            state.update(Change::Key(KeyCode::Up));
            drawn(&state);
            began.elapsed()
        });
        best.min().unwrap_or_default()
    };
    let (few, many) = (of(100), of(30_000));
    assert!(
        many < few * 3 + Duration::from_millis(2),
        "{few:?} {many:?}"
    );
}
