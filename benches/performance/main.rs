//! `cargo bench`: teamlog compared with bare loops that do the same work, as one table.
//!
//! Every figure is a ratio, because absolute times on a shared machine mean little. Both sides run in turns within one run, and
//! the table shows the median of the rounds' ratios. `docs/performance.md` explains the rows.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

mod append;
mod condition;
mod fold;
mod history;
mod options;
mod process;
mod replay;
mod scale;
mod serve;
mod worst;

use options::Options;

fn main() {
    if let Some(child) = teamlog_benches::child::Child::of_args() {
        return child.run();
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(usage) => {
            eprintln!("{usage}");
            std::process::exit(2);
        }
    };
    if let Some(events) = options.scale {
        return scale::run(events, &options);
    }
    teamlog_benches::table::head();
    if options.worst {
        return worst::rows(&options);
    }
    append::rows(&options);
    condition::rows(&options);
    replay::rows(&options);
    process::rows(&options);
    history::rows(&options);
    fold::rows(&options);
    serve::rows(&options);
}
