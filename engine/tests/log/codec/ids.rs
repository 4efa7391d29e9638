//! Tests of event ids: ids encode the time, and strictly increase.

use super::events::event_id;
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;
use teamlog_engine::{EventId, IdSource, RandomIds, SeededIds, Timestamp};

/// A source that always returns the same bits.
#[derive(Debug)]
struct Stuck(u64);

impl IdSource for Stuck {
    fn random(&self) -> teamlog_engine::Result<u64> {
        Ok(self.0)
    }
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap()
}

fn random_part(id: EventId) -> u64 {
    u64::from_be_bytes(id.bytes()[8..].try_into().unwrap()) << 2 >> 2
}

#[test]
fn all_thousand_microseconds_of_a_millisecond_survive() {
    for micros in 1_795_255_200_000_000..1_795_255_200_001_000 {
        let id = EventId::new(at(micros), u64::MAX);
        assert_eq!(id.created_at(), at(micros));
        assert_eq!(EventId::from_bytes(id.bytes()), Some(id));
        let earlier = EventId::new(at(micros - 1), u64::MAX);
        assert!(
            earlier < EventId::new(at(micros), 0),
            "time comes before random bits"
        );
    }
    for end in [at(0), Timestamp::MAX] {
        assert_eq!(EventId::new(end, 0).created_at(), end);
        assert_eq!(
            EventId::from_bytes(EventId::new(end, 5).bytes()),
            Some(EventId::new(end, 5))
        );
    }
}

#[test]
fn only_ids_of_whole_microseconds_are_read() {
    let bytes = EventId::new(at(1_795_255_200_000_000), 0).bytes();
    let fractions = (0..4096_u16).filter(|fraction| {
        let mut bytes = bytes;
        bytes[6..8].copy_from_slice(&(0x7000 | fraction).to_be_bytes());
        EventId::from_bytes(bytes).is_some()
    });
    assert_eq!(fractions.count(), 1000);
    for (at, byte) in [(6, 0x40), (6, 0x80), (8, 0x00), (8, 0xC0), (8, 0x40)] {
        let mut bytes = bytes;
        bytes[at] = byte;
        assert_eq!(EventId::from_bytes(bytes), None, "byte {at} is {byte:#x}");
    }
    let mut past_9999 = EventId::new(Timestamp::MAX, 0).bytes();
    past_9999[0] = 0xFF;
    assert_eq!(EventId::from_bytes(past_9999), None);
}

proptest! {
    #[test]
    fn text_round_trips_and_sorts_like_the_id(one in event_id(), two in event_id()) {
        let (first, second) = (one.text(), two.text());
        prop_assert_eq!(EventId::from_text(&first), Some(one));
        prop_assert_eq!(first.cmp(&second), one.cmp(&two));
        prop_assert_eq!(EventId::from_text(first.to_ascii_uppercase().as_slice()).is_some(), first == *first.to_ascii_uppercase());
        prop_assert_eq!(EventId::from_text(&first[1..]), None);
    }

    #[test]
    fn ids_strictly_increase_and_keep_their_time(seed in any::<u64>(), steps in proptest::collection::vec(0_i64..3, 1..200)) {
        let ids = SeededIds(AtomicU64::new(seed));
        let (mut now, mut previous) = (at(1_795_255_200_000_000), None);
        for step in steps {
            now = now.plus_micros(step);
            let id = EventId::after(previous, now, &ids).unwrap();
            prop_assert!(previous < Some(id));
            prop_assert_eq!(id.created_at(), now);
            prop_assert_eq!(EventId::from_bytes(id.bytes()), Some(id));
            previous = Some(id);
        }
    }
}

#[test]
fn a_burst_within_one_microsecond_has_room() {
    let now = at(1_795_255_200_000_000);
    let widest = Stuck(u64::MAX);
    let mut previous = EventId::after(None, now, &widest).unwrap();
    for _ in 0..100_000 {
        let id = EventId::after(Some(previous), now, &widest).unwrap();
        assert!(id > previous && id.created_at() == now);
        previous = id;
    }
    // The random bits are equal, but the next id differs.
    let next = EventId::after(Some(previous), now, &Stuck(0)).unwrap();
    assert_eq!(random_part(next), random_part(previous) + 1);
}

#[test]
fn a_used_up_microsecond_passes_on_to_the_next() {
    let now = at(1_795_255_200_000_999);
    let last = EventId::new(now, u64::MAX);
    let id = EventId::after(Some(last), now, &Stuck(0)).unwrap();
    assert!(id > last);
    assert_eq!(id.created_at(), now.plus_micros(1));
    let end = EventId::new(Timestamp::MAX, u64::MAX);
    assert!(EventId::after(Some(end), Timestamp::MAX, &Stuck(0)).unwrap() <= end);
}

#[test]
#[should_panic(expected = "must not follow")]
fn time_must_not_run_backward() {
    let previous = EventId::new(at(2), 0);
    drop(EventId::after(Some(previous), at(1), &Stuck(0)));
}

#[test]
fn random_bits_differ_and_seeded_ones_repeat() {
    let mut drawn: Vec<u64> = (0..1000).map(|_| RandomIds.random().unwrap()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), 1000);
    // The first outputs of SplitMix64 for seed 0 are published in many places.
    let ids = SeededIds(AtomicU64::new(0));
    assert_eq!(
        [ids.random(), ids.random(), ids.random()],
        [
            0xE220_A839_7B1D_CDAF,
            0x6E78_9E6A_A1B9_65F4,
            0x06C4_5D18_8009_454F
        ]
    );
}
