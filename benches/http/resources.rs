//! Resources that a process has used so far, as the kernel counts them.

use std::path::Path;

/// Ticks of the kernel's clock in a second, on all systems that teamlog runs on.
const TICKS: f64 = 100.0;

/// Resources that a process has used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resources {
    /// Processor time in user mode, in seconds.
    pub user: f64,
    /// Processor time in the kernel, in seconds.
    pub kernel: f64,
    /// Number of context switches of the process's living threads, voluntary or not.
    pub switches: f64,
    /// Number of bytes that the process caused to be written to the disk.
    pub written: f64,
}

impl Resources {
    /// Reads the resources of a process.
    pub fn for_process(pid: &str) -> Resources {
        let proc = Path::new("/proc").join(pid);
        let text = |name: &str| std::fs::read_to_string(proc.join(name)).unwrap();
        let stat = text("stat");
        // The name of the program, in parentheses, may contain any characters.
        let behind = stat.rsplit(')').next().unwrap();
        let ticks: Vec<f64> = behind
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|ticks| ticks.parse().unwrap())
            .collect();
        Resources {
            user: ticks[0] / TICKS,
            kernel: ticks[1] / TICKS,
            switches: switches(&proc),
            written: number(&text("io"), "write_bytes:"),
        }
    }

    /// Returns the resources used since `then`.
    pub fn since(self, then: Resources) -> Resources {
        Resources {
            user: self.user - then.user,
            kernel: self.kernel - then.kernel,
            switches: self.switches - then.switches,
            written: self.written - then.written,
        }
    }
}

fn switches(proc: &Path) -> f64 {
    let threads = std::fs::read_dir(proc.join("task")).unwrap();
    // A thread that has just ended has no status.
    let statuses = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("status")).ok());
    let both = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
    statuses
        .map(|status| both.map(|name| number(&status, name)).iter().sum::<f64>())
        .sum()
}

fn number(text: &str, name: &str) -> f64 {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
    values.next().unwrap().trim().parse().unwrap()
}
