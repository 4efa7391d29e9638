//! Rough bounds of a run's keys: for each namespace the first and the last key, each reduced to its first eight bytes after the
//! namespace.

/// The bounds of a run's keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds(Vec<Bound>);

/// The bounds of one namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub namespace: u8,
    /// Start of the first key in the namespace.
    pub low: u64,
    /// Start of the last key in the namespace.
    pub high: u64,
}

/// Returns the namespace of a key, and the next eight bytes (padded with zeros) as a number that sorts like the bytes.
fn beginning(key: &[u8]) -> (u8, u64) {
    let (namespace, rest) = key.split_first().unwrap_or((&0, &[]));
    let mut next = [0; 8];
    for (to, from) in next.iter_mut().zip(rest) {
        *to = *from;
    }
    (*namespace, u64::from_be_bytes(next))
}

impl Bounds {
    /// Creates the bounds that a manifest holds; `None` if they do not ascend.
    pub fn new(bounds: Vec<Bound>) -> Option<Bounds> {
        let ascend = bounds.is_sorted_by(|a, b| a.namespace < b.namespace);
        let sound = ascend && bounds.iter().all(|bound| bound.low <= bound.high);
        sound.then_some(Bounds(bounds))
    }
    /// Returns the bounds of each namespace, in order.
    pub fn each(&self) -> &[Bound] {
        &self.0
    }
    /// Adds a key, which is greater than all keys before.
    pub fn add(&mut self, key: &[u8]) {
        let (namespace, at) = beginning(key);
        match self.0.last_mut().filter(|last| last.namespace == namespace) {
            Some(last) => last.high = at,
            None => self.0.push(Bound {
                namespace,
                low: at,
                high: at,
            }),
        }
    }
    /// Returns true if the run may hold the key.
    pub fn may_hold(&self, key: &[u8]) -> bool {
        let (namespace, at) = beginning(key);
        let found = self
            .0
            .binary_search_by_key(&namespace, |bound| bound.namespace);
        let bound = found.ok().and_then(|found| self.0.get(found));
        bound.is_some_and(|bound| (bound.low..=bound.high).contains(&at))
    }
    /// Returns true if the run may hold a key of `from..to`.
    pub fn may_hold_some(&self, from: &[u8], to: &[u8]) -> bool {
        let (from, end) = (beginning(from), beginning(to));
        self.0.iter().any(|bound| {
            // A bound of one byte comes before every key of its namespace, so the namespace does not belong to the range.
            let before_end = match to.len() {
                0 | 1 => bound.namespace < end.0,
                _ => (bound.namespace, bound.low) <= end,
            };
            before_end && (bound.namespace, bound.high) >= from
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(keys: &[&[u8]]) -> Bounds {
        let mut bounds = Bounds::default();
        keys.iter().for_each(|key| bounds.add(key));
        bounds
    }

    #[test]
    fn hold_every_key_that_was_added_and_few_others() {
        let keys: [&[u8]; 7] = [
            b"",
            b"\x01",
            b"\x01a",
            b"\x01a long name, and another",
            b"\x05name\0",
            b"\x05name\0\0",
            b"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ];
        let held = bounds(&keys);
        assert!(keys.iter().all(|key| held.may_hold(key)));
        for other in [
            &b"\x01b"[..],
            b"\x02",
            b"\x05nam",
            b"\x05o",
            b"\x80",
            b"\xff",
        ] {
            assert!(!held.may_hold(other), "{other:?}");
        }
        assert!(held.may_hold(b"\x01a long name, and one that is not there"));
        assert!(!bounds(&[]).may_hold(b""));
        assert_eq!(Bounds::new(held.each().to_vec()), Some(held));
    }

    #[test]
    fn hold_some_of_a_range_or_none() {
        let held = bounds(&[b"\x03k", b"\x03m", b"\x07\0\0\0\0\0\0\0\x05"]);
        let some = |from: &[u8], to: &[u8]| held.may_hold_some(from, to);
        assert!(some(b"", b"\xff"));
        assert!(some(b"\x03", b"\x04"));
        assert!(some(b"\x03l", b"\x03l\0"), "what lies between is not known");
        assert!(some(b"\x03m", b"\x04"));
        assert!(some(b"\x03a", b"\x03k\0"));
        assert!(!some(b"\x03n", b"\x04"));
        assert!(!some(b"\x03a", b"\x03j"));
        assert!(!some(b"\x04", b"\x07"));
        assert!(!some(b"\x07", b"\x07\0\0\0\0\0\0\0\x04"));
        assert!(some(b"\x07", b"\x07\0\0\0\0\0\0\0\x05"), "may be shorter");
        assert!(!some(b"\x08", b""));
        assert!(!bounds(&[]).may_hold_some(b"", b"\xff"));
    }

    #[test]
    fn bounds_that_do_not_ascend_are_none() {
        let bound = |namespace, low, high| Bound {
            namespace,
            low,
            high,
        };
        assert!(Bounds::new(vec![bound(1, 0, 0), bound(2, 5, 7)]).is_some());
        assert!(Bounds::new(vec![bound(2, 0, 0), bound(2, 5, 7)]).is_none());
        assert!(Bounds::new(vec![bound(1, 8, 7)]).is_none());
    }
}
