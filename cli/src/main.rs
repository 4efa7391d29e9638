//! The command line of teamlog. The program parses argv, calls `teamlog-team` or the daemon, and renders the answer.
#![forbid(unsafe_code)]

mod agents;
mod args;
mod board;
mod boot;
mod call;
mod command;
mod complete;
mod context;
mod env;
mod exit;
mod fence;
mod file;
mod forward;
mod git;
mod given;
mod global;
mod hint;
mod journals;
mod link;
mod output;
mod progress;
mod random;
mod render;
mod root;
mod run;
mod stream;
mod team_argument;
mod when;

fn main() -> std::process::ExitCode {
    outlive_size_limit();
    let argv: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let env = env::ProcessEnv::of_process();
    if let Some(exit) = command::guard::init_stage::run(&argv, &env) {
        return u8::from(exit).into();
    }
    if complete::answered(&argv, &env, args::completed) {
        return 0.into();
    }
    let argv = link::arranged(argv);
    exit::install_panic_hook(global::wants_json(&argv));
    u8::from(run::run(&argv, &env)).into()
}

/// Makes a write beyond the limit of a file's size (`ulimit -f`) fail with an ordinary error. Without a handler, the signal
/// of the limit kills the process.
fn outlive_size_limit() {
    let noted = std::sync::Arc::default();
    // If this fails, the program still works, but the signal kills the process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted);
}
