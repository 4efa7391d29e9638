//! The table of results. The rows take turns in each round; a row shows the median of its rounds, and their spread.

use crate::driver::{Measured, Order};
use crate::options::Options;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use teamlog_benches::daemon::{Daemon, Views};
use teamlog_benches::directory::Directories;
use teamlog_benches::release::{build, target};
use teamlog_benches::rounds::{median, timed};

/// Approximate bytes that a call writes.
const EVENT_BYTES: usize = 600;
const SYNCS: u64 = 200;

/// A row and its rounds so far, each with the duration of a bare sync in microseconds.
struct Row {
    views: Views,
    clients: usize,
    rounds: Vec<(Measured, f64)>,
}

/// Measures all rows and prints the table.
pub fn run(options: &Options) {
    let teamlog = options.teamlog.clone();
    let teamlog = teamlog.unwrap_or_else(|| build(&options.profile));
    let dir = options.dir.clone().unwrap_or_else(|| target().join("tmp"));
    let directories = Directories::within(&dir);
    let mut rows: Vec<Row> = options
        .clients
        .iter()
        .flat_map(|clients| options.views.iter().map(|views| Row::new(*views, *clients)))
        .collect();
    for round in 0..options.rounds {
        let count = rows.len();
        for turn in 0..count {
            let at = if round % 2 == 0 {
                turn
            } else {
                count - 1 - turn
            };
            rows[at].measure(&teamlog, &directories, options);
        }
    }
    print(&rows, options);
}

impl Row {
    fn new(views: Views, clients: usize) -> Row {
        Row {
            views,
            clients,
            rounds: Vec::new(),
        }
    }

    fn measure(&mut self, teamlog: &Path, directories: &Directories, options: &Options) {
        let before = bare_sync(&directories.fresh());
        let daemon = Daemon::start(teamlog, &directories.fresh(), &options.format, self.views);
        let order = Order {
            address: daemon.address.clone(),
            token: daemon.token.clone(),
            pid: daemon.pid(),
            clients: self.clients,
            window: options.window,
        };
        let output = Command::new(std::env::current_exe().unwrap())
            .args(order.args())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let measured = serde_json::from_slice(&output.stdout).unwrap();
        drop(daemon);
        let after = bare_sync(&directories.fresh());
        self.rounds.push((measured, (before + after) / 2.0));
    }

    /// Returns the median of a figure.
    fn middle(&self, figure: impl Fn(&Measured, f64) -> f64) -> f64 {
        let figures = self
            .rounds
            .iter()
            .map(|(measured, bare)| figure(measured, *bare));
        median(figures.collect())
    }
}

/// Returns the median microseconds of an append with its sync to a growing file.
fn bare_sync(dir: &Path) -> f64 {
    let file = File::create(dir.join("bare")).unwrap();
    let bytes = [b'x'; EVENT_BYTES];
    let took = (0..SYNCS).map(|at| {
        let took = timed(|| {
            file.write_all_at(&bytes, at * EVENT_BYTES as u64).unwrap();
            file.sync_data().unwrap();
        });
        took.as_secs_f64() * 1e6
    });
    median(took.collect())
}

fn print(rows: &[Row], options: &Options) {
    println!(
        "Log in {}, {} rounds of {:?}; p50, p99, max and the parts of a call in microseconds.\n",
        options.format, options.rounds, options.window
    );
    println!(
        "| clients | views | calls/s (least to most) | p50 | create, claim, complete p50 | p99 | max | p50 / bare sync | calls / bare sync | calls a sync | switches | daemon kernel | daemon user | driver | KiB to disk |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        println!("{}", line(row));
    }
}

fn line(row: &Row) -> String {
    let rate = |measured: &Measured| measured.calls / measured.seconds;
    let rates = || row.rounds.iter().map(|(measured, _)| rate(measured));
    let each = |figure: fn(&Measured) -> f64| {
        row.middle(move |measured, _| figure(measured) / measured.calls)
    };
    let cells = [
        row.clients.to_string(),
        row.views.name().into(),
        format!(
            "{:.0} ({:.0} to {:.0})",
            row.middle(|measured, _| rate(measured)),
            rates().fold(f64::INFINITY, f64::min),
            rates().fold(0.0, f64::max),
        ),
        format!("{:.0}", row.middle(|measured, _| measured.p50)),
        format!(
            "{:.0}, {:.0}, {:.0}",
            row.middle(|measured, _| measured.create),
            row.middle(|measured, _| measured.claim),
            row.middle(|measured, _| measured.complete),
        ),
        format!("{:.0}", row.middle(|measured, _| measured.p99)),
        format!("{:.0}", row.middle(|measured, _| measured.max)),
        format!(
            "{:.2} x {:.0}",
            row.middle(|measured, bare| measured.p50 / bare),
            row.middle(|_, bare| bare)
        ),
        format!(
            "{:.2} x",
            row.middle(|measured, bare| rate(measured) * bare / 1e6)
        ),
        format!(
            "{:.1}",
            row.middle(|measured, _| measured.calls / measured.syncs)
        ),
        format!("{:.1}", each(|measured| measured.switches)),
        format!("{:.0}", each(|measured| measured.kernel * 1e6)),
        format!("{:.0}", each(|measured| measured.user * 1e6)),
        format!("{:.0}", each(|measured| measured.own * 1e6)),
        format!("{:.1}", each(|measured| measured.written / 1024.0)),
    ];
    format!("| {} |", cells.join(" | "))
}
