//! `cargo run --release -p teamlog-benches --bin http`: the daemon, driven from a second process by clients that create, claim
//! and complete tasks over connections that stay open. Prints one table; `docs/performance.md` explains the table.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

mod connection;
mod driver;
mod options;
mod resources;
mod rows;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(order) = driver::Order::of_args(&args) {
        let measured = driver::drive(&order);
        return println!("{}", serde_json::to_string(&measured).unwrap());
    }
    match options::Options::parse(args.into_iter()) {
        Ok(options) => rows::run(&options),
        Err(usage) => {
            eprintln!("{usage}");
            std::process::exit(2);
        }
    }
}
