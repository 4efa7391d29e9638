//! The cost of a command in a new process against the length of a history. The figures are written to
//! `docs/performance/cost.csv`, and drawn as SVG beside that file. Sizes may be measured in several runs; a new measurement
//! replaces the old one.

use crate::options::Options;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamlog_benches::child::{Cost, cost};
use teamlog_benches::events::trace_id;
use teamlog_benches::past;
use teamlog_benches::rounds::median;
use teamlog_engine::Format;

const SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];
const HEAD: &str = "what,format,events,value";

/// The plots: name, title, and true if the cost grows with the history, so that the axis is logarithmic.
const PLOTS: [(&str, &str, bool); 7] = [
    ("append", "one append, ms", false),
    ("trace", "first trace of 20 events, ms", false),
    ("open", "open, ms", false),
    ("claim", "claim of a task, ms", false),
    ("memory", "peak memory of an append, MiB", false),
    ("rehydrate", "rehydrate, s", true),
    ("disk", "log and derived files, MiB", true),
];

// The colour is visible on white and on black.
const INK: RGBColor = RGBColor(125, 133, 144);
const COLOURS: [(&str, RGBColor); 2] = [
    ("jsonl", RGBColor(217, 115, 13)),
    ("binary", RGBColor(47, 129, 247)),
];

/// Figures by plot, format and number of events.
type Figures = BTreeMap<(String, String, u64), f64>;

/// Measures histories of these sizes, and draws all known figures.
pub fn run(sizes: &[u64], options: &Options) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance");
    let csv = dir.join("cost.csv");
    let mut figures = read(&csv);
    let sizes = if sizes.is_empty() { &SIZES } else { sizes };
    for size in sizes {
        for format in [Format::Jsonl, Format::Binary] {
            for (what, value) in measure(*size, format, options) {
                println!("{what}, {}, {size} events: {value:.3}", format.name());
                figures.insert((what.into(), format.name().into(), *size), value);
            }
            write(&csv, &figures);
            draw_all(&dir, &figures);
        }
    }
}

fn read(csv: &Path) -> Figures {
    let text = std::fs::read_to_string(csv).unwrap_or_default();
    let line = |line: &str| {
        let mut cells = line.split(',');
        let (what, format) = (cells.next()?.into(), cells.next()?.into());
        let events = cells.next()?.parse().ok()?;
        Some(((what, format, events), cells.next()?.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn write(csv: &Path, figures: &Figures) {
    let line = |((what, format, events), value): (&(String, String, u64), &f64)| {
        format!("{what},{format},{events},{value:.4}\n")
    };
    let lines: String = figures.iter().map(line).collect();
    std::fs::write(csv, format!("{HEAD}\n{lines}")).unwrap();
}

/// Measures commands on a team with `size` events.
fn measure(size: u64, format: Format, options: &Options) -> Vec<(&'static str, f64)> {
    let dir = options.fresh();
    past::create(&dir, format);
    cost(&dir, "fill", &size.to_string());
    let rounds = if options.quick { 3 } else { 15 };
    let mut costs: BTreeMap<&str, Vec<Cost>> = BTreeMap::new();
    for round in 0..rounds {
        let task = format!("T-{round}");
        cost(&dir, "create", &task);
        for (command, argument) in [
            ("trace", &trace_id(size / 2)),
            ("append", &task),
            ("claim", &task),
        ] {
            let cost = cost(&dir, command, argument);
            costs.entry(command).or_default().push(cost);
        }
    }
    let on_disk = mib(&dir);
    let long = size > 100_000;
    for _ in 0..if long { 1 } else { 3 } {
        let cost = cost(&dir, "rehydrate", "");
        costs.entry("rehydrate").or_default().push(cost);
    }
    let middle = |command, figure: fn(&Cost) -> f64| {
        let of: &Vec<Cost> = &costs[command];
        median(of.iter().map(figure).collect())
    };
    fn millis(duration: Duration) -> f64 {
        duration.as_secs_f64() * 1e3
    }
    vec![
        ("append", middle("append", |cost| millis(cost.answer))),
        ("trace", middle("trace", |cost| millis(cost.answer))),
        ("open", middle("trace", |cost| millis(cost.open))),
        ("claim", middle("claim", |cost| millis(cost.answer))),
        (
            "memory",
            middle("append", |cost| cost.peak_kib as f64 / 1024.0),
        ),
        (
            "rehydrate",
            middle("rehydrate", |cost| cost.answer.as_secs_f64()),
        ),
        ("disk", on_disk),
    ]
}

fn mib(dir: &Path) -> f64 {
    crate::history::on_disk(dir) as f64 / f64::from(1 << 20)
}

fn draw_all(dir: &Path, figures: &Figures) {
    for (name, title, grows) in PLOTS {
        let path = dir.join(format!("{name}.svg"));
        draw(&path, title, grows, &lines(name, figures));
    }
}

/// Returns a line for each format, by the number of events.
fn lines(name: &str, figures: &Figures) -> [Vec<(u64, f64)>; 2] {
    COLOURS.map(|(format, _)| {
        let of = figures
            .iter()
            .filter(|((what, of, _), _)| what == name && of == format);
        of.map(|((_, _, events), value)| (*events, *value))
            .collect()
    })
}

fn draw(path: &PathBuf, title: &str, grows: bool, lines: &[Vec<(u64, f64)>; 2]) {
    let values = || lines.iter().flatten().map(|(_, value)| *value);
    let (least, most) = values().fold((f64::MAX, 0.0_f64), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let area = SVGBackend::new(path, (480, 300)).into_drawing_area();
    let mut chart = ChartBuilder::on(&area);
    chart
        .caption(title, ("sans-serif", 16).into_font().color(&INK))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(52);
    let events = (700_u64..14_000_000).log_scale();
    match grows {
        true => {
            let chart = chart.build_cartesian_2d(events, (least / 2.0..most * 2.0).log_scale());
            finish(&area, chart.unwrap(), lines);
        }
        false => {
            let chart = chart.build_cartesian_2d(events, 0.0..most * 1.25);
            finish(&area, chart.unwrap(), lines);
        }
    }
}

fn finish<'a, Y: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    mut chart: ChartContext<'a, SVGBackend<'a>, Cartesian2d<LogCoord<u64>, Y>>,
    lines: &[Vec<(u64, f64)>; 2],
) {
    let text = |size: i32| ("sans-serif", size).into_font().color(&INK);
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.3))
        .axis_style(INK)
        .label_style(text(12))
        .x_desc("events")
        .x_label_formatter(&|events| match *events {
            1_000_000.. => format!("{} M", events / 1_000_000),
            1_000.. => format!("{} k", events / 1_000),
            _ => events.to_string(),
        })
        .draw()
        .unwrap();
    for (line, (name, colour)) in lines.iter().zip(COLOURS) {
        let points = line.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))
            .unwrap()
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        let dots = points.map(|point| Circle::new(point, 3, colour.filled()));
        chart.draw_series(dots).unwrap();
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(text(12))
        .draw()
        .unwrap();
    area.present().unwrap();
}
