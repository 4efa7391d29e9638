//! Decides if a mode may start, and which active modes its start completes. The rules are pure: they take the active modes,
//! the requested mode and the review of autopilot's code.
//!
//! The first matching row decides:
//!
//! | active modes | decision |
//! |---|---|
//! | the requested mode | `allow`, nothing changes |
//! | no mode | `allow`, the mode becomes active |
//! | modes that hand off to the requested mode; all other active modes overlap with it | `auto-complete` of the modes that hand off |
//! | only modes that overlap with the requested mode | `overlap` |
//! | any other set of modes | `deny`, nothing changes |

use crate::mode::prelude::*;
use crate::mode::rules::table::rules;

words! {
    /// Result of a request to start a mode.
    #[schemars(rename = "TransitionKind")]
    pub enum Kind in json {
        /// The mode becomes active or is active already; other modes do not change.
        Allow = "allow",
        /// The mode becomes active together with other modes.
        Overlap = "overlap",
        /// The mode becomes active, and modes that hand off to it are completed.
        AutoComplete = "auto-complete",
        /// The mode may not become active.
        Deny = "deny",
    }
}

words! {
    /// Reason of a denial.
    pub enum Denial in json {
        /// The requested mode plans, but a mode that executes is active.
        Rollback = "rollback",
        /// The mode may not be active together with the active modes.
        Generic = "generic",
    }
}

words! {
    /// Result of the review of autopilot's code.
    #[derive(Default, Hash)]
    pub enum Review in json {
        /// No review is known, which has the effect of `not-clean`.
        #[default]
        Unknown = "unknown",
        /// The review has findings.
        NotClean = "not-clean",
        /// The review has no findings.
        Clean = "clean",
    }
}

/// A decision on the start of a mode that is not recorded yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transition {
    /// Kind of the decision
    pub kind: Kind,
    /// Modes that are active before
    pub current: Vec<Mode>,
    /// The requested mode
    pub requested: Mode,
    /// Modes that are active afterwards
    pub resulting: Vec<Mode>,
    /// Modes that are completed because of the start
    pub auto_completed: Vec<Mode>,
    /// Reason of a denial; `null` if allowed
    pub denial: Option<Denial>,
    /// Message about a hand-off or a denial; `null` if there is neither
    pub message: Option<String>,
    /// Modes that cause the denial.
    #[serde(skip)]
    pub blocking: Vec<Mode>,
}

impl Transition {
    /// Returns true if the start is allowed.
    pub fn is_allowed(&self) -> bool {
        self.kind != Kind::Deny
    }
    /// Returns true if the start changes nothing, because the start is denied or the mode is already active.
    pub fn changes_nothing(&self) -> bool {
        !self.is_allowed() || self.current.contains(&self.requested)
    }
}

fn overlaps(one: Mode, other: Mode) -> bool {
    rules(one).overlaps.contains(&other) || rules(other).overlaps.contains(&one)
}

/// Returns true if the start of `to` completes `from`. After a clean review, autopilot does not hand off to a new plan.
fn hands_off(from: Mode, to: Mode, review: Review) -> bool {
    let needless = (from, to) == (Mode::Autopilot, Mode::Blueprint) && review == Review::Clean;
    rules(from).hands_off_to.contains(&to) && !needless
}

/// Decides if a mode may start. `active` lists the active modes in the order of their starts; duplicates count once.
pub fn decide(active: &[Mode], requested: Mode, review: Review) -> Transition {
    let mut current: Vec<Mode> = Vec::new();
    join(&mut current, active.iter().copied());
    if current.contains(&requested) || current.is_empty() {
        return allowed(current, requested);
    }
    let (handing, rest): (Vec<Mode>, Vec<Mode>) = current
        .iter()
        .partition(|mode| hands_off(**mode, requested, review));
    let blocking = rest.iter().filter(|mode| !overlaps(**mode, requested));
    let blocking: Vec<Mode> = blocking.copied().collect();
    if !blocking.is_empty() {
        return denied(current, requested, blocking);
    }
    let message = handing
        .first()
        .map(|source| format!("mode transiting: {source} -> {requested}"));
    let mut resulting = rest;
    resulting.push(requested);
    Transition {
        kind: match message {
            Some(_) => Kind::AutoComplete,
            None => Kind::Overlap,
        },
        resulting,
        auto_completed: handing,
        message,
        ..allowed(current, requested)
    }
}

/// Appends those items that the list does not contain.
pub(crate) fn join<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

fn allowed(current: Vec<Mode>, requested: Mode) -> Transition {
    let resulting = match current.is_empty() {
        true => vec![requested],
        false => current.clone(),
    };
    Transition {
        kind: Kind::Allow,
        current,
        requested,
        resulting,
        auto_completed: Vec::new(),
        denial: None,
        message: None,
        blocking: Vec::new(),
    }
}

fn denied(current: Vec<Mode>, requested: Mode, blocking: Vec<Mode>) -> Transition {
    let executes = current.iter().any(|mode| !mode.plans());
    let denial = match requested.plans() && executes {
        true => Denial::Rollback,
        false => Denial::Generic,
    };
    let mut transition = Transition {
        kind: Kind::Deny,
        denial: Some(denial),
        blocking,
        ..allowed(current, requested)
    };
    denial::word(&mut transition, Source::Start, None, &[]);
    transition
}

/// Returns every reachable set of active modes, beginning with the empty set. The modes of a set are in canonical order.
/// Smaller sets come first.
pub fn reachable() -> Vec<Vec<Mode>> {
    let mut found: Vec<Vec<Mode>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(set) = found.get(at).cloned() {
        at += 1;
        for requested in Mode::ALL {
            let mut next = decide(&set, requested, Review::Unknown).resulting;
            next.sort();
            if !found.contains(&next) {
                found.push(next);
            }
        }
    }
    found.sort_by_key(|set| (set.len(), set.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected decisions, one letter per requested mode. The modes are in the order autopilot, autoresearch, team, forge,
    /// ultrawork, ultraqa, blueprint, deep-interview. S means start, N no change, O overlap, A hand-off, D denied, R denied as
    /// rollback.
    const MATRIX: [(&str, &str); 18] = [
        ("", "SSSSSSSS"),
        ("autopilot", "NRDDODAR"),
        ("autoresearch", "DNDDODDD"),
        ("team", "DRNOODRR"),
        ("forge", "DRONODRR"),
        ("ultrawork", "OOOONOOO"),
        ("ultraqa", "DRDDONRR"),
        ("blueprint", "ADAAODND"),
        ("deep-interview", "DDDDODAN"),
        ("team,forge", "DRNNODRR"),
        ("team,ultrawork", "DRNONDRR"),
        ("forge,ultrawork", "DRONNDRR"),
        ("team,forge,ultrawork", "DRNNNDRR"),
        ("autopilot,ultrawork", "NRDDNDAR"),
        ("autoresearch,ultrawork", "DNDDNDRR"),
        ("ultrawork,ultraqa", "DRDDNNRR"),
        ("ultrawork,blueprint", "ARAANDNR"),
        ("ultrawork,deep-interview", "DRDDNDAN"),
    ];

    fn modes(names: &str) -> Vec<Mode> {
        let names = names.split(',').filter(|name| !name.is_empty());
        names.map(|name| Mode::from_name(name).unwrap()).collect()
    }

    /// Returns all orders of a set.
    fn orders(set: &[Mode]) -> Vec<Vec<Mode>> {
        if set.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (at, first) in set.iter().enumerate() {
            let mut rest = set.to_vec();
            rest.remove(at);
            for mut order in orders(&rest) {
                order.insert(0, *first);
                all.push(order);
            }
        }
        all
    }

    fn without(set: &[Mode], gone: &[Mode]) -> Vec<Mode> {
        let kept = set.iter().filter(|mode| !gone.contains(mode));
        kept.copied().collect()
    }

    fn check(current: &[Mode], requested: Mode, cell: char) {
        let told = decide(current, requested, Review::Unknown);
        let place = format!("{current:?} + {requested}: {told:?}");
        assert_eq!(told.current, current, "{place}");
        assert_eq!(told.requested, requested, "{place}");
        let gone = match cell {
            'A' => modes("deep-interview,blueprint,autopilot"),
            _ => Vec::new(),
        };
        let mut after = without(current, &gone);
        if matches!(cell, 'S' | 'O' | 'A') {
            after.push(requested);
        }
        assert_eq!(told.resulting, after, "{place}");
        let kind = match cell {
            'S' | 'N' => Kind::Allow,
            'O' => Kind::Overlap,
            'A' => Kind::AutoComplete,
            _ => Kind::Deny,
        };
        let denial = match cell {
            'D' => Some(Denial::Generic),
            'R' => Some(Denial::Rollback),
            _ => None,
        };
        assert_eq!((told.kind, told.denial), (kind, denial), "{place}");
        assert_eq!(
            told.auto_completed.is_empty(),
            kind != Kind::AutoComplete,
            "{place}"
        );
        assert_eq!(
            told.message.is_some(),
            matches!(cell, 'A' | 'D' | 'R'),
            "{place}"
        );
        assert_eq!(told.is_allowed(), kind != Kind::Deny);
        assert_eq!(told.changes_nothing(), matches!(cell, 'N' | 'D' | 'R'));
    }

    #[test]
    fn every_reachable_set_meets_every_mode_as_the_table_says() {
        let mut reached = reachable();
        let mut listed: Vec<Vec<Mode>> = MATRIX.iter().map(|(set, _)| modes(set)).collect();
        for set in &mut listed {
            set.sort();
        }
        listed.sort();
        reached.sort();
        assert_eq!(reached, listed);
        for (set, cells) in MATRIX {
            for (requested, cell) in Mode::ALL.into_iter().zip(cells.chars()) {
                check(&modes(set), requested, cell);
            }
        }
    }

    #[test]
    fn order_is_kept_and_decides_nothing_and_a_repetition_counts_once() {
        for (set, cells) in MATRIX {
            for order in orders(&modes(set)) {
                for (requested, cell) in Mode::ALL.into_iter().zip(cells.chars()) {
                    check(&order, requested, cell);
                    let mut twice = order.clone();
                    twice.extend(order.iter().rev());
                    assert_eq!(
                        decide(&twice, requested, Review::Unknown),
                        decide(&order, requested, Review::Unknown)
                    );
                }
            }
        }
    }

    #[test]
    fn a_clean_review_leaves_no_way_back_to_the_plan_and_touches_nothing_else() {
        for (set, _) in MATRIX {
            let set = modes(set);
            for requested in Mode::ALL {
                let unknown = decide(&set, requested, Review::Unknown);
                assert_eq!(decide(&set, requested, Review::NotClean), unknown);
                let clean = decide(&set, requested, Review::Clean);
                let loopback = requested == Mode::Blueprint && set.contains(&Mode::Autopilot);
                if loopback {
                    assert_eq!(
                        (clean.kind, clean.denial),
                        (Kind::Deny, Some(Denial::Rollback))
                    );
                    assert_eq!(clean.resulting, set);
                    assert_eq!(clean.blocking, [Mode::Autopilot]);
                } else {
                    assert_eq!(clean, unknown);
                }
            }
        }
    }

    #[test]
    fn without_the_modes_in_the_way_it_is_allowed_and_with_any_of_them_it_is_not() {
        for (set, _) in MATRIX {
            let set = modes(set);
            for requested in Mode::ALL {
                for review in Review::ALL {
                    let told = decide(&set, requested, review);
                    assert_eq!(told.blocking.is_empty(), told.is_allowed());
                    let rest = without(&set, &told.blocking);
                    assert!(decide(&rest, requested, review).is_allowed());
                    for mode in &told.blocking {
                        let mut with = rest.clone();
                        with.push(*mode);
                        assert!(!decide(&with, requested, review).is_allowed());
                    }
                }
            }
        }
    }

    #[test]
    fn a_set_that_nobody_reaches_is_decided_by_the_same_rows() {
        let told = decide(&modes("blueprint,team"), Mode::Forge, Review::Unknown);
        assert_eq!(told.kind, Kind::AutoComplete);
        assert_eq!(told.resulting, modes("team,forge"));
        let both = decide(
            &modes("deep-interview,autopilot"),
            Mode::Blueprint,
            Review::Unknown,
        );
        assert_eq!(both.auto_completed, modes("deep-interview,autopilot"));
        assert_eq!(
            both.message.as_deref(),
            Some("mode transiting: deep-interview -> blueprint")
        );
    }

    #[test]
    fn it_reads_like_this_as_json() {
        let told = decide(&modes("blueprint"), Mode::Team, Review::Unknown);
        assert_eq!(
            serde_json::to_string(&told).unwrap(),
            r#"{"kind":"auto-complete","current":["blueprint"],"requested":"team","resulting":["team"],"auto_completed":["blueprint"],"denial":null,"message":"mode transiting: blueprint -> team"}"#
        );
        for review in Review::ALL {
            assert_eq!(Review::from_name(review.name()), Some(review));
        }
    }
}
