//! teamlog compared with other stores, on the same events. `cargo peers` prints one document in markdown, with ratios. `cargo
//! peers plots` draws teamlog's cost against the length of a history.
//!
//! `docs/performance.md`, § Beside its peers, explains the columns.
#![forbid(unsafe_code)]

mod appends;
mod conditions;
mod contestant;
mod draft;
mod figures;
mod history;
mod opening;
mod options;
mod plots;
mod process;
mod proof;
#[cfg(feature = "umadb-server")]
mod servers;
mod stores;

use options::Options;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(child) = teamlog_benches::child::Child::of_args() {
        return child.run();
    }
    #[cfg(feature = "umadb-server")]
    if servers::child(&args) {
        return;
    }
    if proof::child(&args) || opening::child(&args) {
        return;
    }
    match Options::parse(args.into_iter()) {
        Ok(options) => match &options.plots {
            Some(sizes) => plots::run(sizes, &options),
            None => run(&options),
        },
        Err(usage) => {
            eprintln!("{usage}");
            std::process::exit(2);
        }
    }
}

fn run(options: &Options) {
    figures::about(options);
    appends::one(options);
    appends::many(options);
    appends::buffered(options);
    conditions::section(options);
    #[cfg(feature = "umadb-server")]
    servers::section(options);
    let kept = history::sections(options);
    opening::section(&kept, options);
    process::section(&kept, options);
    figures::load("at the end");
}
