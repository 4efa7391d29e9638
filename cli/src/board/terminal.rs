//! Runs the board in the terminal. Only this file uses the terminal, and it restores the terminal however the board
//! ends.

use super::load::Source;
use super::state::{Change, Setting, State};
use super::view;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Read, Stdout};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::engine::{Clock as _, SystemClock};

/// Interval of clock ticks.
const SECOND: Duration = Duration::from_secs(1);
/// Changes that arrive within this time are drawn together.
const FRAME: Duration = Duration::from_millis(16);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The user quit the board, or the terminal was closed.
    Left,
    Killed(i32),
    /// Standard input is not a terminal, so the board cannot read keys.
    Deaf,
}

enum Heard {
    Change(Change),
    Signal(i32),
    /// No more keys will arrive.
    Silence,
}

/// True while the terminal is in raw mode and must be restored.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Shows the board until the user quits.
pub fn run(source: Source, setting: Setting) -> io::Result<Ended> {
    let (said, heard) = channel();
    listen_for_signals(&said)?;
    let Ok(_screen) = Screen::take() else {
        return Ok(Ended::Deaf);
    };
    listen_for_keys(&said);
    let zero = setting.at.map(|(_, time)| time);
    thread::spawn(move || {
        source.go_along(&|change| match said.send(Heard::Change(change)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        // A board of a past point is loaded only once. The channel stays open, because the board still reads keys.
    });
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let mut state = State::new(setting);
    match show(&mut terminal, &mut state, &heard, zero.is_some()) {
        // A closed terminal counts as quitting.
        Err(error) if is_gone(&error) => Ok(Ended::Left),
        ended => ended,
    }
}

/// Ends the process with the default action of a signal.
pub fn end_by(signal: i32) {
    // If this call fails, the caller exits shortly after.
    drop(signal_hook::low_level::emulate_default_handler(signal));
}

type Tty = Terminal<CrosstermBackend<Stdout>>;

fn show(
    tty: &mut Tty,
    state: &mut State,
    heard: &Receiver<Heard>,
    past: bool,
) -> io::Result<Ended> {
    let mut tick = Instant::now();
    loop {
        let size = tty.size()?;
        state.update(Change::Size(size.width, size.height));
        tty.draw(|frame| view::draw(state, frame.buffer_mut()))?;
        let drawn = Instant::now();
        // Wait for the first change, then collect more changes for the time of one frame.
        let mut wait = (tick + SECOND).saturating_duration_since(drawn);
        loop {
            let change = match heard.recv_timeout(wait) {
                Ok(Heard::Change(change)) => change,
                Ok(Heard::Signal(signal)) => return Ok(Ended::Killed(signal)),
                Ok(Heard::Silence) | Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Left),
                Err(RecvTimeoutError::Timeout) => break,
            };
            if !state.update(change) {
                return Ok(Ended::Left);
            }
            wait = FRAME.saturating_sub(drawn.elapsed());
        }
        if tick.elapsed() >= SECOND {
            tick = Instant::now();
            if !past {
                state.update(Change::Tick(SystemClock.now()));
            }
        }
    }
}

fn listen_for_keys(said: &Sender<Heard>) {
    let said = said.clone();
    thread::spawn(move || {
        loop {
            let heard = match event::read() {
                Ok(Event::Key(key)) => match change_of(key) {
                    Some(change) => Heard::Change(change),
                    None => continue,
                },
                Ok(Event::Resize(columns, rows)) => Heard::Change(Change::Size(columns, rows)),
                Ok(_) => continue,
                Err(_) => Heard::Silence,
            };
            let ends = matches!(heard, Heard::Silence);
            if said.send(heard).is_err() || ends {
                return;
            }
        }
    });
}

fn change_of(key: KeyEvent) -> Option<Change> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Char('c') if control => Some(Change::Interrupt),
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => None,
        code => Some(Change::Key(code)),
    }
}

/// Sends signals to `said` instead of ending the process.
fn listen_for_signals(said: &Sender<Heard>) -> io::Result<()> {
    let (mut told, teller) = UnixStream::pair()?;
    let which = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let number = usize::try_from(signal).unwrap_or_default();
        // Register the number before the pipe, because the thread that the pipe wakes reads the number from `which`.
        signal_hook::flag::register_usize(signal, Arc::clone(&which), number)?;
        signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
    }
    let said = said.clone();
    thread::spawn(move || {
        let mut byte = [0];
        if told.read_exact(&mut byte).is_ok() {
            let signal = i32::try_from(which.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
            // Sending fails if the board has already ended.
            let _ = said.send(Heard::Signal(signal));
            // Drawing hangs if the terminal accepts no more output. Then this thread ends the process after one second.
            thread::sleep(SECOND);
            let _ = disable_raw_mode();
            end_by(signal);
        }
    });
    Ok(())
}

/// The terminal in raw mode with the alternate screen. Dropping it restores the terminal.
struct Screen;

impl Screen {
    fn take() -> io::Result<Screen> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let screen = Screen;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal if it is not restored yet.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Ignore errors, because a closed terminal needs no restoring.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Returns true if the error means that the terminal was closed.
fn is_gone(error: &io::Error) -> bool {
    let gone = rustix::io::Errno::IO.raw_os_error();
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(gone)
}
