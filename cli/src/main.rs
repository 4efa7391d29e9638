//! The command line of teamlog: argv in, an answer out, an exit code.
//!
//! It knows how people and scripts talk to teamlog; what may happen is the business of `teamlog-team`.
#![forbid(unsafe_code)]

mod args;
mod command;
mod complete;
mod context;
mod exit;
mod link;
mod output;
mod render;
mod root;

fn main() -> std::process::ExitCode {
    let argv: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if complete::answered(&argv) {
        return exit::Exit::Done.into();
    }
    let argv = link::arranged(argv);
    exit::install_panic_hook(args::wants_json(&argv));
    args::run(argv).into()
}
