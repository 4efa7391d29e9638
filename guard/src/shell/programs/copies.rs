//! Programs that put files into other places, and what later paths mean behind them.

use super::{Run, found_below, last_name, parent};
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// What a copy has to do with what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Files of their own.
    Files,
    /// Directories, with the links that stand in them.
    Trees,
    /// The thing itself, under another name.
    Same,
    /// A link, relative to where it stands.
    Link,
    /// A link, relative to the working directory.
    LinkFromHere,
}

/// Where copies go.
struct Copies<'a> {
    by: &'a str,
    kind: Kind,
    sources: Vec<&'a Value>,
    /// A directory or, unless `inside`, a name.
    to: Value,
    inside: bool,
    /// A link to a directory that stands there goes, and nothing is put into the directory.
    replaces: bool,
}

pub(super) fn local(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, run.name, writes);
    if run.name == "install" && found.has(Some('d'), "--directory") {
        for operand in &found.operands {
            walker.target(operand, "install", writes);
        }
        return;
    }
    if let Some(copies) = told(run.name, &found) {
        let keeps = |letter, long| found.has(Some(letter), long);
        if keeps('b', "--backup") || keeps('S', "--suffix") {
            copies.keep(walker, writes);
        }
        copies.write(walker, writes);
    }
}

/// What the words say.
fn told<'a>(name: &'a str, found: &Words<'a>) -> Option<Copies<'a>> {
    let dirs = found.values(Some('t'), "--target-directory");
    let (to, sources, inside) = match (dirs.first(), found.operands.as_slice()) {
        (Some(dir), sources) => (dir.clone(), sources, true),
        (None, []) => return None,
        (None, [only]) if name == "ln" => {
            let name = only.plain().map_or(".", last_name);
            let to = Value::Plain(name.to_owned());
            (to, found.operands.as_slice(), name == ".")
        }
        (None, [sources @ .., last]) => {
            let is_dir = |path: &str| path.ends_with('/') || matches!(last_name(path), "." | "..");
            // An expansion may come to nothing.
            let is_there = |source: &&&Value| matches!(source, Value::Plain(_) | Value::Below(_));
            let several = sources.iter().filter(is_there).count() > 1;
            let inside = several || last.plain().is_some_and(is_dir);
            ((*last).clone(), sources, inside)
        }
    };
    Some(Copies {
        by: name,
        kind: kind(name, found),
        sources: sources.to_vec(),
        to,
        inside,
        replaces: name != "cp"
            && (found.sure(Some('T'), "--no-target-directory")
                || (name == "ln" && found.sure(Some('n'), "--no-dereference"))),
    })
}

fn kind(name: &str, found: &Words<'_>) -> Kind {
    let has = |letter, long| found.has(Some(letter), long);
    match name {
        "mv" => Kind::Same,
        "ln" if has('r', "--relative") => Kind::LinkFromHere,
        "ln" if has('s', "--symbolic") => Kind::Link,
        "ln" => Kind::Same,
        "cp" if has('l', "--link") => Kind::Same,
        "cp" if has('s', "--symbolic-link") => Kind::LinkFromHere,
        "cp" if found.sure(Some('L'), "--dereference") && !keeps_links(found) => Kind::Files,
        "cp" if has('a', "--archive")
            || has('d', "--no-dereference")
            || has('P', "--no-dereference")
            || has('R', "--recursive")
            || has('r', "--recursive") =>
        {
            Kind::Trees
        }
        _ => Kind::Files,
    }
}

fn keeps_links(found: &Words<'_>) -> bool {
    ['a', 'd', 'P']
        .into_iter()
        .any(|letter| found.has(Some(letter), ""))
        || found.has(None, "--archive")
        || found.has(None, "--no-dereference")
}

impl Copies<'_> {
    fn write(&self, walker: &Walker, writes: &mut Writes) {
        // A thing with two names is written under both, and one that is moved goes away.
        if self.kind == Kind::Same {
            for source in &self.sources {
                walker.entry(source, self.by, writes);
            }
        }
        match self.kind {
            Kind::Files | Kind::Trees => walker.overlay(&self.to, self.by, writes),
            _ if self.replaces || self.is_there(walker) => {
                walker.entry(&self.to, self.by, writes);
            }
            _ => walker.target(&self.to, self.by, writes),
        }
        if self.kind != Kind::Files {
            for source in &self.sources {
                self.lead(walker, source);
            }
        }
    }

    /// What was there before is kept beside it, under a name that begins as its own.
    fn keep(&self, walker: &Walker, writes: &mut Writes) {
        let dir = match &self.to {
            Value::Plain(to) if !self.inside => Value::Below(parent(to).to_owned()),
            to => found_below(to),
        };
        walker.target(&dir, self.by, writes);
    }

    /// Whether it is this very link that stands there, seen for a second time.
    fn is_there(&self, walker: &Walker) -> bool {
        let (Value::Plain(to), [source], false) = (&self.to, self.sources.as_slice(), self.inside)
        else {
            return false;
        };
        let leads = source.plain().and_then(|source| self.leads_to(source, to));
        leads.is_some_and(|leads| walker.is_led(to, &leads))
    }

    /// Where a copy of this source leads that stands at `at`.
    fn leads_to(&self, source: &str, at: &str) -> Option<String> {
        match self.kind {
            Kind::Files | Kind::Trees => None,
            Kind::Link if !source.starts_with('/') => Some(format!("{}/{source}", parent(at))),
            Kind::Same | Kind::LinkFromHere | Kind::Link => Some(source.to_owned()),
        }
    }

    /// What paths through the places of a copy mean from now on.
    fn lead(&self, walker: &Walker, source: &Value) {
        let Value::Plain(to) = &self.to else {
            // Only the directory of a pattern or nothing is known of it.
            let dir = match &self.to {
                Value::Below(dir) => Some(dir.as_str()),
                _ => None,
            };
            return walker.leads(dir, None, false);
        };
        let Some(source) = source.plain() else {
            walker.leads(Some(to), None, false);
            if !self.inside {
                walker.leads(Some(to), None, true);
            }
            return;
        };
        let name = last_name(source);
        if matches!(name, "" | "." | "..") {
            // Of a directory, what lies in it goes there one by one.
            let leads = self.leads_to(source, to);
            return walker.leads(Some(to), leads.as_deref(), leads.is_some());
        }
        let within = format!("{to}/{name}");
        for at in [(!self.inside).then_some(to.as_str()), Some(&within)] {
            let Some(at) = at else { continue };
            walker.leads(Some(at), self.leads_to(source, at).as_deref(), true);
        }
    }
}

/// Whether a path is on another machine: a colon before any slash.
fn is_remote(path: &Value) -> bool {
    path.plain().is_some_and(|path| {
        let host = path.split('/').next();
        host.is_some_and(|host| host.contains(':'))
    })
}

/// Options of `rsync` that name directories which it writes.
const RSYNC_DIRS: [&str; 4] = ["--partial-dir", "--backup-dir", "--temp-dir", "--link-dest"];

pub(super) fn rsync(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, "rsync", writes);
    for shell in found.values(Some('e'), "--rsh") {
        if !shell.plain().is_some_and(is_plain_ssh) {
            writes.doubt("rsync runs another program");
        }
    }
    let mut dirs: Vec<Value> = RSYNC_DIRS
        .iter()
        .flat_map(|name| found.values(None, name))
        .collect();
    dirs.extend(found.values(Some('T'), "--temp-dir"));
    let Some((to, sources)) = found.operands.split_last() else {
        return;
    };
    for dir in &dirs {
        // Relative to where the files go.
        let dir = match (dir, to) {
            (Value::Plain(dir), Value::Plain(to)) if !dir.starts_with('/') => {
                Value::Plain(format!("{to}/{dir}"))
            }
            (dir, _) => dir.clone(),
        };
        if !is_remote(to) {
            walker.target(&found_below(&dir), "rsync", writes);
        }
    }
    if found.has(None, "--remove-source-files") || found.has(None, "--remove-sent-files") {
        for source in sources.iter().filter(|source| !is_remote(source)) {
            walker.target(source, "rsync", writes);
        }
    }
    if sources.is_empty() || is_remote(to) {
        return;
    }
    walker.overlay(to, "rsync", writes);
    if found.has(Some('a'), "--archive") || found.has(Some('l'), "--links") {
        walker.leads(to.plain(), None, false);
    }
}

/// `ssh`, with nothing but where and as whom.
fn is_plain_ssh(command: &str) -> bool {
    let mut words = command.split_whitespace();
    if words.next() != Some("ssh") {
        return false;
    }
    while let Some(word) = words.next() {
        match word {
            "-p" | "-i" | "-l" => {
                words.next();
            }
            "-q" | "-4" | "-6" | "-C" | "-T" | "-x" => {}
            _ => return false,
        }
    }
    true
}

/// Settings of `ssh` that neither run nor write anything.
const SSH_SETTINGS: [&str; 6] = [
    "stricthostkeychecking",
    "connecttimeout",
    "batchmode",
    "port",
    "loglevel",
    "user",
];

pub(super) fn scp(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let (found, rest) = Words::leading(run.words, run.spec);
    found.check(walker, "scp", writes);
    let harmless = |setting: &Value| {
        let key = setting
            .plain()
            .and_then(|text| text.split(['=', ' ']).next());
        key.is_some_and(|key| SSH_SETTINGS.contains(&&*key.to_lowercase()))
    };
    let open = rest.iter().any(Value::may_be_option);
    if open || !found.values(Some('o'), "").iter().all(harmless) {
        writes.doubt("scp runs another program");
    }
    if let Some(to) = rest.last()
        && !is_remote(to)
    {
        walker.overlay(to, "scp", writes);
    }
}
