//! Tests of times: the canonical text, compared with another calendar, and texts that people write.

use proptest::prelude::*;
use teamlog_engine::Timestamp;

fn text(micros: i64) -> String {
    Timestamp::from_micros(micros).unwrap().to_string()
}

#[test]
fn known_times() {
    for (micros, expected) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_795_255_200_000_001, "2026-11-21T10:00:00.000001Z"),
        (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ] {
        assert_eq!(text(micros), expected);
        assert_eq!(
            Timestamp::from_canonical(expected.as_bytes()).map(Timestamp::micros),
            Some(micros)
        );
    }
    assert_eq!(Timestamp::from_micros(-1), None);
    assert_eq!(Timestamp::from_micros(Timestamp::MAX.micros() + 1), None);
}

#[test]
fn every_day_agrees_with_another_calendar() {
    let mut date = jiff::civil::date(1970, 1, 1);
    for day in 0..=Timestamp::MAX.micros() / 86_400_000_000 {
        let expected = format!("{date}T00:00:00.000000Z");
        assert_eq!(text(day * 86_400_000_000), expected);
        let read = Timestamp::from_canonical(expected.as_bytes());
        assert_eq!(read.map(Timestamp::micros), Some(day * 86_400_000_000));
        date = date.tomorrow().unwrap_or(date);
    }
}

proptest! {
    #[test]
    fn canonical_text_round_trips_and_sorts(one in 0..=Timestamp::MAX.micros(), two in 0..=Timestamp::MAX.micros()) {
        prop_assert_eq!(Timestamp::from_canonical(text(one).as_bytes()).map(Timestamp::micros), Some(one));
        prop_assert_eq!(Timestamp::parse(&text(one)).map(Timestamp::micros), Ok(one));
        prop_assert_eq!(text(one).cmp(&text(two)), one.cmp(&two));
    }

    #[test]
    fn what_is_read_as_canonical_is_canonical(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{6}Z") {
        if let Some(time) = Timestamp::from_canonical(text.as_bytes()) {
            prop_assert_eq!(time.to_string(), text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), like in "[0-9TZ:. +-]{0,35}") {
        let _ = (Timestamp::parse(&text), Timestamp::parse(&like));
        prop_assert_eq!(Timestamp::from_canonical(text.as_bytes()), None);
    }
}

#[test]
fn near_misses_are_not_canonical() {
    for text in [
        "",
        "2026-11-21T10:00:00.00000Z",
        "2026-11-21T10:00:00.0000001Z",
        "2026-11-21t10:00:00.000000Z",
        "2026-11-21 10:00:00.000000Z",
        "2026-11-21T10:00:00.000000z",
        "2026-11-21T10:00:00,000000Z",
        "2026-02-29T00:00:00.000000Z",
        "2100-02-29T00:00:00.000000Z",
        "2026-04-31T00:00:00.000000Z",
        "2026-00-10T00:00:00.000000Z",
        "2026-13-10T00:00:00.000000Z",
        "2026-01-00T00:00:00.000000Z",
        "2026-01-01T24:00:00.000000Z",
        "2026-01-01T00:60:00.000000Z",
        "2026-01-01T00:00:60.000000Z",
        "1969-12-31T23:59:59.999999Z",
        "+026-01-01T00:00:00.000000Z",
        "2026-01-01T00:00:00.00000/Z",
    ] {
        assert_eq!(Timestamp::from_canonical(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn people_write_times_in_many_ways() {
    for (text, expected) in cases![
        ("2026-11-21T10:00:00Z" => "2026-11-21T10:00:00.000000Z"),
        ("2026-11-21t10:00:00z" => "2026-11-21T10:00:00.000000Z"),
        ("2026-11-21 10:00:00" => "2026-11-21T10:00:00.000000Z"),
        ("2026-11-21T10:00" => "2026-11-21T10:00:00.000000Z"),
        ("2026-11-21" => "2026-11-21T00:00:00.000000Z"),
        ("2026-11-21T10:00:00.1" => "2026-11-21T10:00:00.100000Z"),
        ("2026-11-21T10:00:00.123456789+01:30" => "2026-11-21T08:30:00.123456Z"),
        ("2026-11-21T10:00:00,5-0530" => "2026-11-21T15:30:00.500000Z"),
        ("20261121T100000Z" => "2026-11-21T10:00:00.000000Z"),
        ("2016-12-31T23:59:60Z" => "2016-12-31T23:59:59.000000Z"),
        ("1969-12-31T23:00:00-01:00" => "1970-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.9999999Z" => "9999-12-31T23:59:59.999999Z"),
    ] {
        assert_eq!(
            Timestamp::parse(text)
                .map(|time| time.to_string())
                .as_deref(),
            Ok(expected),
            "{text}"
        );
    }
}

#[test]
fn refusals_name_the_text_and_the_rule() {
    let form =
        "a time must look like 2026-11-21T10:00:00.000000Z, with an offset, or like 2026-11-21";
    let range = "a time must lie in the years 1970 to 9999";
    let zone = "a time must have no zone in brackets";
    for (text, rule) in [
        ("", form),
        ("yesterday", form),
        ("10:00", form),
        ("1795255200", form),
        ("2026-02-30", form),
        ("2026-11-21T25:00:00Z", form),
        (" 2026-11-21", form),
        ("2026-11-21Z", form),
        ("1969-12-31T23:59:59.9999999Z", range),
        ("1970-01-01T00:00:00+00:01", range),
        ("-002026-11-21T00:00:00Z", range),
        ("9999-12-31T23:59:59-00:01", range),
        ("2026-11-21T10:00:00+01:00[Europe/Berlin]", zone),
    ] {
        assert_eq!(
            Timestamp::parse(text),
            Err(format!("{rule}, but is {text:?}"))
        );
    }
}

#[test]
fn days_begin_and_end() {
    let time = Timestamp::parse("2024-02-29T12:34:56Z").unwrap();
    assert_eq!(time.day(), "2024-02-29");
    assert_eq!(time.day_start().to_string(), "2024-02-29T00:00:00.000000Z");
    assert_eq!(time.next_day().to_string(), "2024-03-01T00:00:00.000000Z");
    assert_eq!(Timestamp::MAX.plus_micros(1), Timestamp::MAX);
}
