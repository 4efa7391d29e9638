//! The table of results: row, target, figure, verdict.

/// Required value of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// The figure must be at least this value.
    AtLeast(f64),
    /// The figure must be at most this value.
    AtMost(f64),
    /// The figure has no limit.
    Report,
}

/// Prints the head of the table.
pub fn head() {
    println!("| what | target | figure | verdict | in this run |");
    println!("|---|---|---|---|---|");
}

/// Prints a row. `unit` follows the figure; `detail` explains the figure.
pub fn row(what: &str, target: Target, figure: f64, unit: &str, detail: &str) {
    let number = |value: f64| match value.abs() {
        0.0..10.0 => format!("{value:.2}{unit}"),
        _ => format!("{value:.0}{unit}"),
    };
    let (wanted, met) = match target {
        Target::AtLeast(least) => (format!("≥ {}", number(least)), Some(figure >= least)),
        Target::AtMost(most) => (format!("≤ {}", number(most)), Some(figure <= most)),
        Target::Report => ("report".into(), None),
    };
    let verdict = met.map_or("–", |met| if met { "met" } else { "MISSED" });
    println!(
        "| {what} | {wanted} | {} | {verdict} | {detail} |",
        number(figure)
    );
}
