//! The command line of teamlog: argv in, an answer out, an exit code.
//!
//! It knows how people and scripts talk to teamlog; what may happen is the business of `teamlog-team`.
#![forbid(unsafe_code)]

mod args;
mod command;
mod complete;
mod context;
mod exit;
mod forward;
mod link;
mod output;
mod render;
mod root;
mod surroundings;

fn main() -> std::process::ExitCode {
    let argv: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let surroundings = surroundings::Surroundings::of_process();
    if complete::answered(&argv, &surroundings) {
        return 0.into();
    }
    let argv = link::arranged(argv);
    exit::install_panic_hook(args::wants_json(&argv));
    args::run(argv, surroundings).into()
}
