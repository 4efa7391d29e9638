//! The main thread of the daemon of a data root, from taking the lock to the end of the last connection.

use crate::batches::Batches;
use crate::confine::confine;
use crate::failure::{Result, StartError};
use crate::guesses::Guesses;
use crate::listen::{self, TlsListener, accept};
use crate::local_slots::LocalSlots;
use crate::lock::Lock;
use crate::maintenance::Maintenance;
use crate::metrics::Metrics;
use crate::options::ServeOptions;
use crate::per_team_limit::PerTeamLimit;
use crate::pool::Pool;
use crate::projector;
use crate::reserve;
use crate::running::Running;
use crate::runtime::Runtimes;
use crate::scrubber;
use crate::served::{About, Served};
use crate::socket;
use crate::state::AppState;
use crate::tls::Certificate;
use crate::via::Via;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use teamlog_team::Root;
use teamlog_team::handle::root::TEAMS_DIR;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Number of threads that read and write connections. Calls are answered on other threads.
const IO_THREADS: usize = 2;
/// Time limit for the start of the main thread. The start does nothing slow, but the runtime never starts if the
/// system does not start all of its threads.
const BEGIN_TIME: Duration = Duration::from_secs(60);
/// Interval at which the files of the certificate are checked for changes.
const CERTIFICATE_CHECK: Duration = Duration::from_secs(60);
/// Maximum number of concurrent lookups of agents' tokens.
const LOOKUPS: usize = 8;
/// Signal for a write beyond the file size limit of the process. Without a handler, it would kill the process.
const SIGXFSZ: i32 = 25;

/// A running daemon. Dropping this value stops the daemon.
#[derive(Debug)]
pub struct Daemon {
    running: Running,
    served: Arc<Served>,
    drain: CancellationToken,
    confined: bool,
    main: Option<JoinHandle<bool>>,
}

/// Starts the daemon of a data root on its own threads.
///
/// # Errors
/// See [`StartError`].
pub fn serve(mut options: ServeOptions) -> Result<Daemon> {
    if !options.listen.ip().is_loopback() {
        return Err(StartError::NotLoopback(options.listen));
    }
    let files = files(options.signals);
    reserve::check_files(files)?;
    reserve::check_threads()?;
    options.limits = options.limits.within(files);
    let root = Root::open(&options.root, options.root_options.clone())?;
    let lock = Lock::take(&options.root)?;
    for team in &options.teams {
        root.team(team)?;
    }
    let started_at = root.options().clock.now().to_string();
    let (tcp, url) = listen(options.listen, "http")?;
    let remote = options.remote.as_ref().map(|(address, files)| {
        let certificate = Arc::new(Certificate::load(files.clone())?);
        let (tcp, url) = listen(*address, "https")?;
        Ok::<_, StartError>(((tcp, certificate), url))
    });
    let (tls, remote_url) = remote.transpose()?.unzip();
    let place = socket::place(
        &options.root,
        options.socket.as_deref(),
        options.runtime_dir.as_deref(),
    )?;
    let unix = socket::listen(&place)?;
    let running = Running {
        pid: std::process::id(),
        url,
        remote_url,
        socket: place.clone(),
        version: options.version.clone(),
        started_at,
    };
    let about = About {
        version: options.version.clone(),
        data_root_name: name(&options.root),
    };
    let served = Arc::new(Served::within(root, &options.limits, about));
    let home = DaemonFiles {
        served: served.clone(),
        runtimes: Arc::new(Runtimes::new(options.root.clone(), running.clone())),
        socket: place,
        lock,
    };
    let names = match options.teams.is_empty() {
        true => served.root().teams()?,
        false => options.teams.clone(),
    };
    let published = home.runtimes.publish_all(&served, &names);
    published
        .map_err(|(name, error)| StartError::io(format!("write runtime.json of {name}"))(error))?;
    let published = home.runtimes.publish(&served, None);
    published.map_err(StartError::io("write runtime.json of the data root"))?;
    home.lock.note(&running)?;
    let drain = CancellationToken::new();
    let (ready, is_ready) = channel();
    let life = MainThread {
        options,
        tcp,
        tls,
        unix,
        home,
        drain: drain.clone(),
    };
    let main = std::thread::Builder::new()
        .name("teamd".to_owned())
        .spawn(move || {
            let ended = life.run(&ready);
            ended.unwrap_or_else(|error| {
                let _ = ready.send(Err(error));
                false
            })
        })
        .map_err(StartError::io("start a thread"))?;
    let late = |_| {
        Err(io::Error::other(
            "the daemon's thread ended or did not start",
        ))
    };
    let confined = is_ready.recv_timeout(BEGIN_TIME).unwrap_or_else(late);
    Ok(Daemon {
        confined: confined.map_err(StartError::io("start"))?,
        running,
        served,
        drain,
        main: Some(main),
    })
}

impl Daemon {
    /// Returns the URL for HTTP.
    pub fn url(&self) -> &str {
        &self.running.url
    }
    /// Returns the path of the Unix socket.
    pub fn socket(&self) -> &Path {
        &self.running.socket
    }
    /// Returns the daemon's description of itself.
    pub fn running(&self) -> &Running {
        &self.running
    }
    /// Returns the served teams.
    pub fn served(&self) -> &Arc<Served> {
        &self.served
    }
    /// Returns true if the kernel confines the daemon's writes.
    pub fn is_confined(&self) -> bool {
        self.confined
    }
    /// Waits until the daemon has ended. Returns true if all running work was finished.
    pub fn wait(mut self) -> bool {
        self.ended()
    }
    /// Stops the daemon, and waits like [`Daemon::wait`].
    pub fn stop(mut self) -> bool {
        self.drain.cancel();
        self.ended()
    }
    fn ended(&mut self) -> bool {
        let main = self.main.take();
        main.is_none_or(|main| main.join().unwrap_or(false))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.drain.cancel();
        self.ended();
    }
}

/// Returns the name of a directory. Resolves symlinks first.
fn name(root: &Path) -> String {
    let place = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = place.file_name().unwrap_or(place.as_os_str());
    name.to_string_lossy().into_owned()
}

fn listen(address: SocketAddr, scheme: &str) -> Result<(TcpListener, String)> {
    let listening = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        listen::widen(&listener)?;
        let url = format!("{scheme}://{}", listener.local_addr()?);
        Ok((listener, url))
    };
    listening().map_err(StartError::io(format!("listen at {address}")))
}

/// Files of the daemon. They are removed when the daemon ends.
struct DaemonFiles {
    served: Arc<Served>,
    runtimes: Arc<Runtimes>,
    socket: PathBuf,
    /// The lock is declared last, so that it is dropped last.
    lock: Lock,
}

impl Drop for DaemonFiles {
    fn drop(&mut self) {
        for name in self.served.names() {
            // A file that cannot be removed is recognised as stale by its process id.
            let _ = self.runtimes.withdraw(&self.served, Some(&name));
        }
        let _ = self.runtimes.withdraw(&self.served, None);
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// State of the main thread.
struct MainThread {
    options: ServeOptions,
    tcp: TcpListener,
    tls: Option<(TcpListener, Arc<Certificate>)>,
    unix: UnixListener,
    home: DaemonFiles,
    drain: CancellationToken,
}

impl MainThread {
    /// Runs the daemon. Returns true if all running work was finished at its end.
    ///
    /// # Errors
    /// The daemon could not start.
    fn run(self, ready: &Sender<io::Result<bool>>) -> io::Result<bool> {
        let (runtime, confined) = self.begin()?;
        let MainThread {
            options,
            tcp,
            tls,
            unix,
            home,
            drain,
        } = self;
        let teams_dir = options.root.join(TEAMS_DIR);
        let maintenance = Maintenance::new(
            &options,
            &teams_dir,
            home.served.clone(),
            home.runtimes.clone(),
        );
        let within = options.limits.drain_time;
        let certificate = tls.as_ref().map(|(_, certificate)| certificate.clone());
        let state = Arc::new(open(options, (&tcp, certificate), &home, drain));
        let (stop_maintenance, stopped) = channel();
        let kept = std::thread::Builder::new()
            .name("maintenance".to_owned())
            .spawn(move || maintenance.run(&stopped))?;
        let compared = home.served.clone();
        // This thread is not joined, because it only reads.
        let _ = std::thread::Builder::new()
            .name("journal-scrubber".to_owned())
            .spawn(move || scrubber::compare_journals(&compared));
        let folded = home.served.clone();
        // This thread is not joined, because a fold can be interrupted at any point.
        let _ = std::thread::Builder::new()
            .name("projector".to_owned())
            .spawn(move || projector::run(&folded));
        let audited = home.served.clone();
        // This thread is not joined, because it changes nothing.
        let _ = std::thread::Builder::new()
            .name("scrubber".to_owned())
            .spawn(move || scrubber::run(&audited, &teams_dir));
        let (until, all) = runtime.block_on(async {
            let accepting = begin_accepting(&state, (tcp, tls, unix))?;
            let _ = ready.send(Ok(confined));
            Ok::<_, io::Error>(serve_until_drained(&state, accepting, within).await)
        })?;
        let left = || until.saturating_duration_since(Instant::now());
        let done = runtime.block_on(async {
            let closed = tokio::time::timeout(left(), state.pool.close());
            closed.await.is_ok()
        });
        drop(stop_maintenance);
        let kept = ended(kept, left());
        runtime.shutdown_timeout(Duration::from_millis(100));
        drop(state);
        // Sync and unlock all teams. If a sync fails, no acknowledged event is lost, because events are acknowledged
        // only after a sync.
        let closed = home.served.root().close().is_ok();
        drop(home);
        Ok(all && done && kept && closed)
    }

    fn begin(&self) -> io::Result<(Runtime, bool)> {
        let mut writable = vec![self.options.root.clone()];
        writable.extend(self.home.socket.parent().map(Path::to_owned));
        let confined = match self.options.confined {
            true => confine(&writable).map_err(io::Error::other)?,
            false => false,
        };
        // One thread per concurrent job, and one thread for each I/O thread while it blocks.
        let blocking = self.options.limits.workers.saturating_add(IO_THREADS);
        let blocking = blocking.saturating_add(self.options.limits.waits);
        let build = || {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(IO_THREADS)
                .thread_name("teamd-io")
                .max_blocking_threads(blocking.max(1))
                .enable_all()
                .build()
        };
        // The runtime's builder panics if it cannot start its threads.
        let built = std::panic::catch_unwind(build);
        let built = built.map_err(|_| io::Error::other("no more threads can be started"))?;
        Ok((built?, confined))
    }
}

/// Returns the limit of open files. If `own` is true, first raises the soft limit to the hard limit, because every open team
/// needs a few files and default limits are low.
fn files(own: bool) -> u64 {
    if own {
        let mut raised = getrlimit(Resource::Nofile);
        raised.current = raised.maximum;
        // Keep the old soft limit if raising it fails.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    // `None` means unlimited.
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn open(
    options: ServeOptions,
    (tcp, certificate): (&TcpListener, Option<Arc<Certificate>>),
    home: &DaemonFiles,
    drain: CancellationToken,
) -> AppState {
    let limits = options.limits;
    let pool = Arc::new(Pool::new(limits.workers, limits.queue));
    let (served, answer) = (home.served.clone(), options.answer.clone());
    AppState {
        served: home.served.clone(),
        runtimes: home.runtimes.clone(),
        answer: options.answer,
        forward: options.forward,
        batches: Arc::new(Batches::new(served, answer, pool.clone())),
        pool,
        per_team_limit: PerTeamLimit::new(limits.team_workers),
        awaiting: Pool::new(limits.waits, 0),
        metrics: Metrics::new(),
        guesses: Guesses::new(),
        bodies: Arc::new(Semaphore::new(limits.bodies_bytes)),
        large_bodies: Arc::new(Semaphore::new(limits.large_bodies)),
        local_slots: LocalSlots::new(limits.upgraded, limits.upgraded_waits),
        remote_slots: LocalSlots::new(limits.upgraded, limits.upgraded_waits),
        lookups: Semaphore::new(LOOKUPS),
        drain,
        certificate,
        port: tcp.local_addr().map_or(0, |address| address.port()),
        signals: options.signals,
        limits,
    }
}

/// Starts a task with an accept loop for each listener.
fn begin_accepting(
    state: &Arc<AppState>,
    (tcp, tls, unix): (
        TcpListener,
        Option<(TcpListener, Arc<Certificate>)>,
        UnixListener,
    ),
) -> io::Result<Vec<tokio::task::JoinHandle<()>>> {
    if state.signals {
        handle_signals(&state.drain, state.certificate.is_some())?;
    }
    let tcp = tokio::net::TcpListener::from_std(tcp)?;
    let unix = tokio::net::UnixListener::from_std(unix)?;
    let mut accepting = Vec::new();
    if let Some((tcp, certificate)) = tls {
        let hangup = state
            .signals
            .then(|| signal(SignalKind::hangup()))
            .transpose()?;
        tokio::spawn(keep_current(
            certificate.clone(),
            hangup,
            state.drain.clone(),
        ));
        let tls = TlsListener {
            tcp: tokio::net::TcpListener::from_std(tcp)?,
            certificate,
            within: state.limits.head_time,
        };
        accepting.push(tokio::spawn(accept(tls, Via::Tls, state.clone())));
    }
    accepting.push(tokio::spawn(accept(tcp, Via::Tcp, state.clone())));
    accepting.push(tokio::spawn(accept(unix, Via::Socket, state.clone())));
    Ok(accepting)
}

/// Serves until the daemon must stop, and then until the last connection has ended or the drain time is over. Returns the end
/// of the drain time, and true if all connections ended.
async fn serve_until_drained(
    state: &AppState,
    accepting: Vec<tokio::task::JoinHandle<()>>,
    within: Duration,
) -> (Instant, bool) {
    state.drain.cancelled().await;
    state.served.stop();
    let until = Instant::now() + within;
    let all = async {
        for one in accepting {
            let _ = one.await;
        }
        state.local_slots.empty().await;
        state.remote_slots.empty().await;
    };
    (until, tokio::time::timeout(within, all).await.is_ok())
}

/// Handles signals. `SIGTERM` and `SIGINT` stop the daemon. `SIGHUP` reloads the certificate, or stops a daemon without a
/// certificate. `SIGXFSZ` is ignored.
fn handle_signals(drain: &CancellationToken, has_certificate: bool) -> io::Result<()> {
    let mut stopping = vec![SignalKind::terminate(), SignalKind::interrupt()];
    if !has_certificate {
        stopping.push(SignalKind::hangup());
    }
    for kind in stopping {
        let (mut signals, drain) = (signal(kind)?, drain.clone());
        tokio::spawn(async move {
            signals.recv().await;
            drain.cancel();
        });
    }
    // A handler is enough: the write then fails with an ordinary error, and the signal does not kill the process.
    drop(signal(SignalKind::from_raw(SIGXFSZ))?);
    Ok(())
}

/// Reloads the certificate at each `SIGHUP`, and once a minute if its files changed, until the daemon stops.
async fn keep_current(
    certificate: Arc<Certificate>,
    mut hangup: Option<Signal>,
    drain: CancellationToken,
) {
    loop {
        let signalled = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let forced = tokio::select! {
            () = drain.cancelled() => return,
            _ = signalled => true,
            () = tokio::time::sleep(CERTIFICATE_CHECK) => false,
        };
        let certificate = certificate.clone();
        // Block on another thread, because the files may be on a slow disk. After a panic, the loaded certificate stays in use.
        let _ = tokio::task::spawn_blocking(move || match forced {
            true => certificate.reload(),
            false => certificate.reload_if_changed(),
        })
        .await;
    }
}

fn ended(thread: JoinHandle<()>, within: Duration) -> bool {
    let until = Instant::now() + within;
    while !thread.is_finished() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    thread.join().is_ok()
}
