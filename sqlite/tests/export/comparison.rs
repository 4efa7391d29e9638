//! Compares the tables with the answers of the team.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use teamlog_team::Team;
use teamlog_team::log::replay::Replay;
use teamlog_team::projections::TaskFilter;
use teamlog_team::projections::tag::Content;
use teamlog_team::projections::usage::UsageOf;
use teamlog_team::redaction::redact;
use teamlog_team::task::list::Tasks;

/// Returns the rows of a query; each row is a list of values.
pub fn rows(database: &Connection, query: &str) -> Vec<Value> {
    let mut statement = database.prepare(query).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let value = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
                other => panic!("{other:?}"),
            })
        };
        (0..columns).map(value).collect::<rusqlite::Result<Value>>()
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Returns all tables as text.
pub fn dump(file: &Path) -> String {
    let database = Connection::open(file).unwrap();
    let tables = [
        ("events", "seq"),
        ("tags", "tag, seq"),
        ("tasks", "id"),
        ("messages", "id"),
        ("claims", "seq"),
        ("usage", "seq"),
        ("teamlog_position", "one"),
    ];
    let mut text = String::new();
    for (table, order) in tables {
        for row in rows(
            &database,
            &format!("SELECT * FROM {table} ORDER BY {order}"),
        ) {
            text += &format!("{table} {row}\n");
        }
    }
    text
}

/// Checks every table against the team.
#[track_caller]
pub fn equals(team: &mut Team, file: &Path) {
    let database = Connection::open(file).unwrap();
    events(team, &database);
    tasks(team, &database);
    claims(team, &database);
    messages(team, &database);
    usage(team, &database);
}

#[track_caller]
fn events(team: &mut Team, database: &Connection) {
    let (mut expected, mut tags, mut last) = (Vec::new(), Vec::new(), json!(null));
    let log = team.log().identity().log.to_string();
    team.replay(Replay::default(), &mut |event, line| {
        let line = String::from_utf8_lossy(line).into_owned();
        let line = redact(&line, "").unwrap_or(line);
        let public: Value = serde_json::from_str(&line).unwrap();
        let of = |field: &str| public[field].clone();
        expected.push(json!([
            event.seq,
            of("id"),
            of("created_at"),
            of("kind"),
            of("actor"),
            of("agent"),
            of("task_id"),
            of("message_id"),
            of("thread_id"),
            of("trace_id"),
            of("session_id"),
            of("key"),
            of("cause"),
            of("schema_version"),
            of("payload").to_string(),
        ]));
        tags.extend(
            Content::from_event(event)
                .tags
                .iter()
                .map(|tag| json!([event.seq, tag])),
        );
        last = json!([1, "demo", log, event.seq, of("id"), 1]);
        ControlFlow::Continue(())
    })
    .unwrap();
    let mut found = rows(
        database,
        "SELECT seq, id, at, kind, actor, agent, task_id, message_id, thread_id, trace_id, session_id, key, cause, \
         schema_version, payload FROM events ORDER BY seq",
    );
    for row in &mut found {
        let payload: Value = serde_json::from_str(row[14].as_str().unwrap()).unwrap();
        row[14] = payload.to_string().into();
    }
    assert_eq!(found, expected);
    assert_eq!(
        rows(database, "SELECT seq, tag FROM tags ORDER BY seq, tag").len(),
        tags.len()
    );
    for tag in tags {
        let (seq, tag) = (tag[0].as_u64().unwrap(), tag[1].as_str().unwrap());
        let count: u64 = database
            .query_row(
                "SELECT count(*) FROM tags WHERE seq = ?1 AND tag = ?2",
                params![seq, tag],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(count, 1, "{tag} of event {seq}");
    }
    assert_eq!(rows(database, "SELECT * FROM teamlog_position"), [last]);
}

/// Compares each task with the answer of `list-tasks`.
#[track_caller]
fn tasks(team: &mut Team, database: &Connection) {
    let answer = team.tasks(Tasks::default().or_all()).unwrap();
    let answer = serde_json::to_string(&answer).unwrap();
    let answer = redact(&answer, "").unwrap_or(answer);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let mut expected: Vec<Value> = answer["tasks"].as_array().unwrap().clone();
    for task in &mut expected {
        // The mark depends on the clock of the caller.
        task.as_object_mut().unwrap().remove("lease_expired");
    }
    expected.sort_by_key(|task| task["task_id"].as_str().unwrap().to_owned());
    let found = rows(database, "SELECT task FROM tasks ORDER BY id");
    let found = found
        .iter()
        .map(|row| serde_json::from_str(row[0].as_str().unwrap()).unwrap());
    assert_eq!(found.collect::<Vec<Value>>(), expected);
    let found = rows(
        database,
        "SELECT id, subject, status, priority, owner, assigned_by, parent, trace_id, epoch, created_at, updated_at, \
         started_at, completed_at, due_at, defer_until, version, seq FROM tasks ORDER BY id",
    );
    let columns = expected.iter().map(|task| {
        let of = |field: &str| task[field].clone();
        let epoch = task.get("epoch").cloned().unwrap_or(json!(0));
        json!([
            of("task_id"),
            of("subject"),
            of("status"),
            of("priority"),
            of("owner"),
            of("assigned_by"),
            of("parent"),
            of("trace_id"),
            epoch,
            of("created_at"),
            of("updated_at"),
            of("started_at"),
            of("completed_at"),
            of("due_at"),
            of("defer_until"),
            of("version"),
            of("seq"),
        ])
    });
    assert_eq!(found, columns.collect::<Vec<_>>());
    let pairs = |field: &str| -> Vec<Value> {
        let lists = expected.iter().flat_map(|task| {
            let items = task[field].as_array().cloned().unwrap_or_default();
            items.into_iter().map(|item| json!([task["task_id"], item]))
        });
        lists.collect()
    };
    let labels = rows(
        database,
        "SELECT task_id, label FROM task_labels ORDER BY task_id",
    );
    assert_eq!(labels, pairs("labels"));
    let deps = rows(
        database,
        "SELECT task_id, depends_on FROM task_dependencies ORDER BY task_id",
    );
    assert_eq!(deps, pairs("deps"));
}

/// Compares the open claims with the live claims of the tasks, and the number of claims of a task with its epoch.
#[track_caller]
fn claims(team: &mut Team, database: &Connection) {
    let all = team.query(|live, _| Ok(live.tasks(&TaskFilter::default(), None, usize::MAX)?.tasks));
    let mut live: Vec<Value> = Vec::new();
    for task in all.unwrap() {
        if let Some(claim) = task.claim() {
            let (epoch, until) = (task.governed.epoch, claim.leased_until.to_string());
            live.push(json!([
                task.task_id,
                epoch,
                claim.owner,
                claim.session,
                until
            ]));
        }
        let last: Option<u64> = database
            .query_row(
                "SELECT max(epoch) FROM claims WHERE task_id = ?1",
                params![task.task_id],
                |row| row.get(0),
            )
            .unwrap();
        if let Some(last) = last {
            assert!(last <= task.governed.epoch);
        }
        assert_eq!(
            last.is_some(),
            task.governed.claim.is_some(),
            "task {}",
            task.task_id
        );
    }
    live.sort_by_key(|row| row[0].as_str().unwrap().to_owned());
    let found = rows(
        database,
        "SELECT task_id, epoch, holder, session, leased_until FROM open_claims ORDER BY task_id",
    );
    assert_eq!(found, live);
}

#[track_caller]
fn messages(team: &mut Team, database: &Connection) {
    let found = rows(
        database,
        "SELECT id, seq, acked_seq, type, recipient, task_id, trace_id FROM messages ORDER BY id",
    );
    let (known, agents) = team
        .query(|live, _| {
            let mut known = Vec::new();
            for row in &found {
                let info = live.message(row[0].as_str().unwrap())?.unwrap();
                known.push(json!([
                    info.id,
                    info.seq,
                    info.acked,
                    info.kind.name(),
                    info.to,
                    info.task_id,
                    info.trace_id,
                ]));
            }
            Ok((known, live.agents()?))
        })
        .unwrap();
    assert_eq!(found, known);
    for agent in agents {
        let counts: (u64, u64) = database
            .query_row(
                "SELECT count(*), count(*) - count(acked_seq) FROM messages WHERE recipient = ?1",
                params![agent.name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        assert_eq!(counts, (agent.received, agent.unread), "{}", agent.name);
    }
}

#[track_caller]
fn usage(team: &mut Team, database: &Connection) {
    let (whole, agents) = team
        .query(|live, _| {
            Ok((
                live.used(UsageOf::Team)?,
                live.agents_used(None, usize::MAX)?,
            ))
        })
        .unwrap();
    let sums = "coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(tokens), 0), count(*)";
    let found = rows(database, &format!("SELECT {sums} FROM usage"));
    let expected = [json!([
        whole.input_tokens,
        whole.output_tokens,
        whole.tokens,
        whole.reports
    ])];
    assert_eq!(found, expected);
    let found = rows(
        database,
        &format!("SELECT agent, {sums} FROM usage GROUP BY agent ORDER BY agent"),
    );
    let expected = agents.iter().map(|(name, used)| {
        json!([
            name,
            used.input_tokens,
            used.output_tokens,
            used.tokens,
            used.reports
        ])
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}
