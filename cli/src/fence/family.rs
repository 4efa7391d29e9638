//! Finds and signals all descendants of this process.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// State of a process from `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub struct Stat {
    /// True if the process has ended and its parent has not waited for it.
    pub has_ended: bool,
    pub parent: i32,
    pub group: i32,
    /// Foreground process group of the process's terminal, if it has a terminal.
    pub foreground: Option<i32>,
}

impl Stat {
    /// Reads the state of a process. `process` is a process id or `self`.
    pub fn for_process(process: &str) -> Option<Stat> {
        Stat::read(&fs::read(format!("/proc/{process}/stat")).ok()?)
    }

    fn read(line: &[u8]) -> Option<Stat> {
        // The process name may contain any characters, so search for the last closing bracket.
        let line = String::from_utf8_lossy(line);
        let (_, fields) = line.rsplit_once(") ")?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let mut number = || fields.next()?.parse::<i32>().ok();
        let (parent, group) = (number()?, number()?);
        let (_session, _terminal) = (number()?, number()?);
        let foreground = number()?;
        Some(Stat {
            has_ended: matches!(state, "Z" | "X"),
            parent,
            group,
            foreground: (foreground > 0).then_some(foreground),
        })
    }
}

/// Returns the signals that this process ignores. Bit N - 1 represents signal N.
pub fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Sends a signal to all descendants of this process. Returns true if there are descendants. If this process adopts
/// orphans, the descendants include children of processes that have ended.
pub fn signal(signal: Signal) -> bool {
    let descendants = descendants(std::process::id().cast_signed(), &running());
    for pid in &descendants {
        // The system may reuse the pid of a process that ended. Pin the process first, then check that it is a descendant.
        let process = Pid::from_raw(*pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let stat = Stat::for_process(&pid.to_string());
        let still = stat.is_some_and(|stat| {
            stat.parent == std::process::id().cast_signed() || descendants.contains(&stat.parent)
        });
        if let (Some(process), true) = (process, still) {
            // Sending fails if the process has ended in the meantime.
            let _ = pidfd_send_signal(process, signal);
        }
    }
    !descendants.is_empty()
}

pub fn is_alive() -> bool {
    !descendants(std::process::id().cast_signed(), &running()).is_empty()
}

/// Returns the parent process id of every running process.
fn running() -> BTreeMap<i32, i32> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let pid = name.parse().ok()?;
            let stat = Stat::for_process(&name).filter(|stat| !stat.has_ended)?;
            Some((pid, stat.parent))
        })
        .collect()
}

fn descendants(of: i32, parents: &BTreeMap<i32, i32>) -> BTreeSet<i32> {
    let mut found = BTreeSet::from([of]);
    loop {
        let more = parents
            .iter()
            .filter(|(pid, parent)| found.contains(parent) && !found.contains(pid));
        let more: Vec<i32> = more.map(|(pid, _)| *pid).collect();
        if more.is_empty() {
            found.remove(&of);
            return found;
        }
        found.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_process_is_read_whatever_its_name() {
        let read = |line: &str| Stat::read(line.as_bytes());
        let shell = read("7 (a) b) R 1) S 5 6 6 34816 9 4194304 1").unwrap();
        assert_eq!(
            (shell.has_ended, shell.parent, shell.group, shell.foreground),
            (false, 5, 6, Some(9))
        );
        let ended = read("7 (x) Z 5 6 6 0 -1 0").unwrap();
        assert_eq!((ended.has_ended, ended.foreground), (true, None));
        assert_eq!(read("7 (x) S 5"), None);
        assert_eq!(read(""), None);
        let own = Stat::for_process("self").unwrap();
        assert!(!own.has_ended && own.parent > 0);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_in_any_order() {
        let parents = BTreeMap::from([(1, 0), (9, 1), (3, 9), (2, 3), (4, 1), (5, 77)]);
        assert_eq!(descendants(9, &parents), BTreeSet::from([2, 3]));
        assert_eq!(descendants(4, &parents), BTreeSet::new());
    }
}
