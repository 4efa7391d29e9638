//! The table: what, target, figure, verdict.

/// What a figure has to be.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
    /// Just to be known.
    Report,
}

/// Begins the table.
pub fn head() {
    println!("| what | target | figure | verdict | in this run |");
    println!("|---|---|---|---|---|");
}

/// One row. `unit` stands behind the figure, `detail` says what it was made of.
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
