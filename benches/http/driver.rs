//! The second process. One thread drives all clients, so that the process uses little processor time.

use crate::connection::{Connection, Step};
use crate::resources::Resources;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use teamlog_benches::daemon::{Client, headers};

const FLAG: &str = "--drive";
/// Time before the measurement, in which threads start, and files and memory become warm.
const WARM_UP: Duration = Duration::from_millis(500);

/// Settings of the second process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    pub address: String,
    pub token: String,
    /// Pid of the daemon.
    pub pid: u32,
    pub clients: usize,
    pub window: Duration,
}

/// Results of the whole measured time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measured {
    pub seconds: f64,
    pub calls: f64,
    /// Median duration of a call in microseconds, for each sort of call.
    pub create: f64,
    pub claim: f64,
    pub complete: f64,
    /// Percentiles of all calls.
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
    /// Resources that the daemon used.
    pub syncs: f64,
    pub switches: f64,
    pub kernel: f64,
    pub user: f64,
    pub written: f64,
    /// Resources that this process used.
    pub own: f64,
}

impl Order {
    /// Returns the settings from the arguments, if this process is the second process.
    pub fn of_args(args: &[String]) -> Option<Order> {
        let [flag, order] = args else { return None };
        (flag == FLAG).then(|| serde_json::from_str(order).unwrap())
    }

    /// Returns the arguments that start this program as the second process.
    pub fn args(&self) -> [String; 2] {
        [FLAG.into(), serde_json::to_string(self).unwrap()]
    }
}

/// Durations of all calls in microseconds, separately for each sort of call.
#[derive(Debug, Default)]
struct Latencies([Vec<f64>; 3]);

/// Runs the clients and measures.
pub fn drive(order: &Order) -> Measured {
    let head = headers(&order.address, &order.token);
    let mut connections: Vec<Connection> = (0..order.clients)
        .map(|number| Connection::open(&order.address, &head, number))
        .collect();
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    for (number, connection) in connections.iter().enumerate() {
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&poll, &connection.stream, data, epoll::EventFlags::IN).unwrap();
    }
    let mut events = Vec::with_capacity(order.clients);
    let mut calls = |until: Instant, latencies: &mut Latencies| {
        while Instant::now() < until {
            events.clear();
            epoll::wait(&poll, spare_capacity(&mut events), None).unwrap();
            for event in events.iter() {
                let connection = &mut connections[event.data.u64() as usize];
                if let Some(step) = connection.take() {
                    latencies.0[step as usize].push(connection.asked.elapsed().as_secs_f64() * 1e6);
                    connection.ask();
                }
            }
        }
    };
    calls(Instant::now() + WARM_UP, &mut Latencies::default());
    let mut asking = Client::connect(&order.address, &order.token);
    let pid = order.pid.to_string();
    let mut latencies = Latencies::default();
    let syncs = asking.counter("teamlog_syncs_total");
    let (daemon, own) = (Resources::for_process(&pid), Resources::for_process("self"));
    let started = Instant::now();
    calls(started + order.window, &mut latencies);
    let seconds = started.elapsed().as_secs_f64();
    let used = Resources::for_process(&pid).since(daemon);
    let own = Resources::for_process("self").since(own);
    let syncs = asking.counter("teamlog_syncs_total") - syncs;
    let mut measured = Measured {
        seconds,
        syncs,
        switches: used.switches,
        kernel: used.kernel,
        user: used.user,
        written: used.written,
        own: own.kernel + own.user,
        ..Measured::default()
    };
    latencies.into(&mut measured);
    measured
}

impl Latencies {
    fn into(self, measured: &mut Measured) {
        let Latencies(by_step) = self;
        let sorted = |mut micros: Vec<f64>| {
            micros.sort_unstable_by(f64::total_cmp);
            micros
        };
        let at = |micros: &[f64], part: f64| match micros.len() {
            0 => f64::NAN,
            count => micros[((count - 1) as f64 * part) as usize],
        };
        let all = sorted(by_step.concat());
        let half = |step: Step| at(&sorted(by_step[step as usize].clone()), 0.5);
        measured.calls = all.len() as f64;
        measured.create = half(Step::Create);
        measured.claim = half(Step::Claim);
        measured.complete = half(Step::Complete);
        (measured.p50, measured.p99, measured.max) = (at(&all, 0.5), at(&all, 0.99), at(&all, 1.0));
    }
}
