//! Tests of a log whose creator declares refs.

use crate::support::*;
use teamlog_engine::backup::{self, Backup};
use teamlog_engine::internals::codec::{parse_public_json_of, public_json_of};
use teamlog_engine::{Event, Ref, RefNames, Refs};

const ORDER: Ref = Ref::new(0);
const CUSTOMER: Ref = Ref::new(1);

fn names() -> RefNames {
    RefNames::new(["order_id", "customer"]).unwrap()
}

/// Returns the options of a program that declares the refs that `names` returns.
fn declaring(seed: u64) -> LogOptions {
    given!(LogOptions, refs: names(), ..small(seed))
}

fn order(number: u64) -> NewEvent {
    let mut event = said(&format!("order {number} {}", "x".repeat(150)));
    event.refs = Refs::default();
    event
        .with_ref(ORDER, number.to_string())
        .with_ref(CUSTOMER, "ann \"one\"")
        .with_ref(Ref::KEY, format!("k-{number}"))
}

/// Creates a log of twelve events in several segments.
fn orders(memory: &Memory, format: Format) -> Log {
    let log = create(&arc(memory), format, &declaring(1));
    let writer = writer(&log);
    for number in 0..12 {
        writer
            .append(vec![order(number)], Durability::Synced)
            .unwrap();
    }
    writer.close().unwrap();
    log
}

fn reopened(memory: &Memory) -> Log {
    open(&arc(memory), &declaring(2))
}

/// Returns the refs of the twelve events.
fn pointed(log: &Log) -> Vec<(String, String, String)> {
    let texts = |event: &Event<'_>| {
        let text = |wanted: Ref| event.refs.get(wanted).unwrap_or_default().to_owned();
        (text(ORDER), text(CUSTOMER), text(Ref::KEY))
    };
    let of_orders = |event: &&Event<'_>| event.kind == "note_said";
    events(log).iter().filter(of_orders).map(texts).collect()
}

fn expected() -> Vec<(String, String, String)> {
    let order = |number: u64| {
        let customer = "ann \"one\"".to_owned();
        (number.to_string(), customer, format!("k-{number}"))
    };
    (0..12).map(order).collect()
}

fn check(log: &Log, what: &str) {
    assert_eq!(log.identity().refs, names(), "{what}");
    assert_eq!(pointed(log), expected(), "{what}");
    let report = log.verify(None).unwrap();
    assert!(report.ok, "{what}: {report:?}");
}

#[test]
fn are_stored_under_their_names() {
    for format in FORMATS {
        let memory = Memory::new();
        drop(orders(&memory, format));
        check(&reopened(&memory), "reopened");
        let identity =
            String::from_utf8(forge::read(&*arc(&memory), &dir().join("log.json"))).unwrap();
        assert!(identity.starts_with("{\"version\":4,"), "{identity}");
        assert!(
            identity.contains(r#","refs":["order_id","customer"],"crc":"#),
            "{identity}"
        );
        let bytes = forge::read(&*arc(&memory), &segment(format));
        let text = String::from_utf8_lossy(&bytes);
        let field = r#","order_id":"0","customer":"ann \"one\"","key":"k-0","#;
        assert_eq!(text.contains(field), format == Format::Jsonl);
    }
}

#[test]
fn survive_a_crash_at_every_call() {
    for format in FORMATS {
        let memory = Memory::new();
        drop(orders(&memory, format));
        let append = |storage: &Arc<dyn Storage>| {
            let log = Log::open(storage.clone(), &dir(), declaring(3))?;
            let writer = log.lock()?.into_writer(());
            writer.append(vec![order(12), order(13)], Durability::Synced)?;
            writer.close()
        };
        at_every_call(&memory, Fault::Stop, append, |stopped| {
            for (how, after) in stopped.crashes(2) {
                let log = reopened(&after);
                drop(writer(&log));
                let orders = pointed(&log);
                assert!([12, 14].contains(&orders.len()), "{how}");
                assert_eq!(orders[..12], expected(), "{how}");
                assert!(log.verify(None).unwrap().ok, "{how}");
            }
        })
        .unwrap();
    }
}

#[test]
fn survive_conversion_backup_and_restore() {
    for format in FORMATS {
        let memory = Memory::new();
        orders(&memory, format).convert(other(format)).unwrap();
        let log = reopened(&memory);
        check(&log, "converted");
        let kept: Arc<dyn Storage> = Arc::new(Memory::new());
        let at = Path::new("demo");
        backup::back_up(&log.reader().unwrap(), &kept, at, start(), Duration::ZERO).unwrap();
        assert!(Backup::open(kept.clone(), at, small(4)).is_err());
        let backup = Backup::open(kept, at, declaring(4)).unwrap();
        for restored in [None, Some(format)] {
            let to: Arc<dyn Storage> = Arc::new(Memory::new());
            let (log, _) = backup
                .restore(to, &dir(), "demo", restored, declaring(5))
                .unwrap();
            check(&log, "restored");
        }
    }
}

#[test]
fn survive_salvage_with_and_without_the_identity() {
    for format in FORMATS {
        for has_identity in [true, false] {
            let memory = Memory::new();
            let log = orders(&memory, format);
            let place = log.reader().unwrap().find_seq(5).unwrap().unwrap();
            let names = forge::names(&*arc(&memory));
            let path = forge::path(&names[place.segment as usize - 1]);
            memory.corrupt(&path, place.offset + 60, 4).unwrap();
            if !has_identity {
                let identity = dir().join("log.json");
                arc(&memory).remove_file(&identity).unwrap();
            }
            let salvaged = salvage(&arc(&memory), &dir(), &declaring(6), "lead", &mut |_| {
                Ok(Vec::new())
            });
            assert_eq!(salvaged.unwrap().unwrap().events, 11);
            let log = reopened(&memory);
            let mut left = expected();
            left.remove(4);
            assert_eq!(pointed(&log), left);
            assert!(log.verify(None).unwrap().ok);
        }
    }
}

#[test]
fn of_another_program_are_refused() {
    let memory = Memory::new();
    let log = orders(&memory, Format::Jsonl);
    let error = Log::open(arc(&memory), &dir(), small(2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "teams/demo/log.json declares the refs [order_id, customer], but this program works with \
         [trace_id, task_id, agent, message_id, thread_id, session_id]"
    );
    let with = small(2);
    assert!(matches!(
        log.with_options(with).lock(),
        Err(Error::OtherRefs { .. })
    ));
    let undeclared = Memory::new();
    create(&arc(&undeclared), Format::Jsonl, &small(1));
    let error = Log::open(arc(&undeclared), &dir(), declaring(2)).unwrap_err();
    assert!(matches!(error, Error::OtherRefs { .. }), "{error}");
}

#[test]
fn that_the_log_does_not_declare_are_refused() {
    for format in FORMATS {
        let log = orders(&Memory::new(), format);
        let open = writer(&log);
        let stray = order(12).with_ref(Ref::new(3), "m");
        let error = open.append(vec![stray], Durability::Synced).unwrap_err();
        assert_eq!(
            error.to_string(),
            "refs must be refs that the log declares [order_id, customer], but is 3"
        );
        let long = order(12).with_ref(CUSTOMER, "x".repeat(129));
        let error = open.append(vec![long], Durability::Synced).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("customer must have 1 to 128 bytes"),
            "{error}"
        );
    }
}

#[test]
fn are_fields_of_the_public_form() {
    let log = orders(&Memory::new(), Format::Binary);
    for event in events(&log) {
        let mut line = Vec::new();
        public_json_of(&names(), &event, &mut line);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(parse_public_json_of(&names(), &line), Ok(event));
        let refused = parse_public_json_of(&RefNames::default(), &line).unwrap_err();
        assert!(
            refused.ends_with("is not a field of an exported event"),
            "{refused}"
        );
    }
}
