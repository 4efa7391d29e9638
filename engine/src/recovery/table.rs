//! The decision table of recovery, as data. `docs/durability.md` prints the table; every cell has a test.
//!
//! A *group* is the events of one write, the unit of evidence. The pages of one un-acknowledged write may reach the disk in any
//! order. So a damaged group that is followed by valid events of the same group is an ordinary crash. A valid event of a later
//! group proves that the damaged group had been synced.

use crate::tail::{Broken, Tail};

/// State of the head slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadFound {
    /// At least one slot is valid; the newest valid slot is the head.
    Valid,
    /// No valid slot.
    None,
}

/// State of the bytes before the head's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// No damage was seen.
    Intact,
    /// The file is missing or ends before the head's end, or a byte before the head's end is wrong.
    Damaged,
}

/// Position of the head's segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// No segment follows the head's segment.
    Last,
    /// One segment follows, and its header describes the head's segment correctly.
    LastButOne,
    /// Several segments follow, or one segment whose header describes the head's segment wrongly.
    Earlier,
}

/// State of the bytes after the head's end (without a head: after the last segment's header).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// No bytes.
    Nothing,
    /// Complete groups up to the end of the file.
    Complete,
    /// A damaged or incomplete group, followed by nothing or by more events of the same group.
    Broken,
    /// Complete groups, then a broken group as in `Broken`.
    CompleteThenBroken,
    /// A damaged or incomplete group, followed by a valid event of another group.
    BrokenThenLater,
}

impl Past {
    /// Classifies the tail of a segment.
    pub fn from_tail(tail: &Tail) -> Past {
        match (&tail.broken, tail.groups.is_empty()) {
            (None, true) => Past::Nothing,
            (None, false) => Past::Complete,
            (Some(Broken { later: Some(_), .. }), _) => Past::BrokenThenLater,
            (Some(_), true) => Past::Broken,
            (Some(_), false) => Past::CompleteThenBroken,
        }
    }
}

/// Action of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Do nothing.
    Clean,
    /// Refuse to write; change nothing.
    Corrupt,
    /// Move the tail to quarantine and cut it off.
    Torn,
    /// Rewrite the complete groups, sync, advance the head.
    Adopt,
    /// Move the broken tail to quarantine and cut it off, then adopt the complete groups before it.
    AdoptAndTorn,
    /// Continue in the next segment, with the same table.
    NextSegment,
    /// Write a new head.
    RebuildHead,
}

/// One row: `None` matches anything. The first row that matches decides.
pub type Row = (
    Option<HeadFound>,
    Option<Before>,
    Option<Position>,
    Option<Past>,
    Verdict,
);

/// The table.
pub const ROWS: [Row; 12] = {
    use Past::{Broken, BrokenThenLater, Complete, CompleteThenBroken, Nothing};
    [
        (None, Some(Before::Damaged), None, None, Verdict::Corrupt),
        (None, None, None, Some(BrokenThenLater), Verdict::Corrupt),
        (None, None, Some(Position::Earlier), None, Verdict::Corrupt),
        // If there is no head, an un-acknowledged tail cannot be told from a damaged tail.
        (
            Some(HeadFound::None),
            None,
            None,
            Some(Broken),
            Verdict::Corrupt,
        ),
        (
            Some(HeadFound::None),
            None,
            None,
            Some(CompleteThenBroken),
            Verdict::Corrupt,
        ),
        (
            Some(HeadFound::None),
            None,
            None,
            None,
            Verdict::RebuildHead,
        ),
        // A segment has a successor only after it is complete, so there must be no bytes after the end that the head names.
        (
            None,
            None,
            Some(Position::LastButOne),
            Some(Nothing),
            Verdict::NextSegment,
        ),
        (
            None,
            None,
            Some(Position::LastButOne),
            None,
            Verdict::Corrupt,
        ),
        (None, None, None, Some(Nothing), Verdict::Clean),
        (None, None, None, Some(Complete), Verdict::Adopt),
        (None, None, None, Some(Broken), Verdict::Torn),
        (
            None,
            None,
            None,
            Some(CompleteThenBroken),
            Verdict::AdoptAndTorn,
        ),
    ]
};

/// Returns the table's verdict.
pub fn verdict(head: HeadFound, before: Before, position: Position, past: Past) -> Verdict {
    fn fits<T: PartialEq>(wanted: &Option<T>, found: &T) -> bool {
        wanted.as_ref().is_none_or(|wanted| wanted == found)
    }
    let row = ROWS.iter().find(|(h, b, o, p, _)| {
        fits(h, &head) && fits(b, &before) && fits(o, &position) && fits(p, &past)
    });
    // The rows cover every case, which a test checks. For a missing row, the safe action is to change nothing.
    row.map_or(Verdict::Corrupt, |(.., verdict)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [HeadFound; 2] = [HeadFound::Valid, HeadFound::None];
    const BEFORES: [Before; 2] = [Before::Intact, Before::Damaged];
    const POSITIONS: [Position; 3] = [Position::Last, Position::LastButOne, Position::Earlier];
    const PASTS: [Past; 5] = [
        Past::Nothing,
        Past::Complete,
        Past::Broken,
        Past::CompleteThenBroken,
        Past::BrokenThenLater,
    ];

    /// Returns the expected verdict of each cell, independent of the table.
    fn expected(head: HeadFound, before: Before, position: Position, past: Past) -> Verdict {
        if before == Before::Damaged
            || past == Past::BrokenThenLater
            || position == Position::Earlier
        {
            return Verdict::Corrupt;
        }
        if head == HeadFound::None {
            return match past {
                Past::Nothing | Past::Complete => Verdict::RebuildHead,
                _ => Verdict::Corrupt,
            };
        }
        match (position, past) {
            (Position::LastButOne, Past::Nothing) => Verdict::NextSegment,
            (Position::LastButOne, _) => Verdict::Corrupt,
            (_, Past::Nothing) => Verdict::Clean,
            (_, Past::Complete) => Verdict::Adopt,
            (_, Past::Broken) => Verdict::Torn,
            (_, _) => Verdict::AdoptAndTorn,
        }
    }

    #[test]
    fn every_cell() {
        let mut cells = 0;
        for head in HEADS {
            for before in BEFORES {
                for position in POSITIONS {
                    for past in PASTS {
                        assert_eq!(
                            verdict(head, before, position, past),
                            expected(head, before, position, past),
                            "{head:?} {before:?} {position:?} {past:?}"
                        );
                        cells += 1;
                    }
                }
            }
        }
        assert_eq!(cells, 60);
    }

    #[test]
    fn every_row_decides_some_cell() {
        for (index, row) in ROWS.iter().enumerate() {
            let decides = HEADS.iter().any(|head| {
                BEFORES.iter().any(|before| {
                    POSITIONS.iter().any(|position| {
                        PASTS.iter().any(|past| {
                            ROWS.iter().position(|(h, b, o, p, _)| {
                                h.is_none_or(|h| h == *head)
                                    && b.is_none_or(|b| b == *before)
                                    && o.is_none_or(|o| o == *position)
                                    && p.is_none_or(|p| p == *past)
                            }) == Some(index)
                        })
                    })
                })
            });
            assert!(decides, "row {index} {row:?} is dead");
        }
    }
}
