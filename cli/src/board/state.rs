//! State of the board, and its changes at each key, each second and each load. Uses no clock, terminal or log.

use super::clock::Clock;
use super::cursor::Cursor;
use super::layout::{Layout, Panel};
use super::live::Live;
use super::load::Loaded;
use super::tasks::{Row, Tasks};
use super::view::details;
use crate::exit::CommandError;
use jiff::tz::TimeZone;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use teamlog_team::attention::{AttentionItem as Item, AttentionSeverity};
use teamlog_team::engine::Timestamp;
use teamlog_team::worker::who::WhoAgent;

#[derive(Debug)]
pub enum Change {
    Key(KeyCode),
    /// Ctrl-C was pressed.
    Interrupt,
    Tick(Timestamp),
    Loaded(Box<Loaded>),
    Failed(CommandError),
    Size(u16, u16),
}

#[derive(Debug, Clone)]
pub struct Setting {
    pub team: String,
    /// Seq and time of the shown past point, or `None` for the present.
    pub at: Option<(u64, Timestamp)>,
    /// The initial format of times.
    pub clock: Clock,
    /// Beginning of each suggested command, which includes the data root.
    pub program: String,
    pub zone: TimeZone,
    pub colours: bool,
    /// Number of columns and rows of the terminal.
    pub size: (u16, u16),
    pub now: Timestamp,
}

/// A popup in front of the panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    pub title: String,
    /// Pairs of a name and a value. The name or the value may be empty.
    pub lines: Vec<(String, String)>,
    /// Index of the first visible line.
    pub top: usize,
}

#[derive(Debug)]
pub struct State {
    pub setting: Setting,
    /// The selected panel.
    pub panel: Panel,
    /// Text of the filter in lower case.
    pub filter: String,
    pub typing: bool,
    pub popup: Option<Popup>,
    /// Error of the last read. If there is an error, the shown data may be old.
    pub fault: Option<CommandError>,
    pub now: Timestamp,
    /// Seq of the last known event; `None` before the first load.
    pub seq: Option<u64>,
    pub live_claims: u64,
    agents: Vec<WhoAgent>,
    items: Vec<Item>,
    more_items: usize,
    shown_agents: Vec<usize>,
    shown_items: Vec<usize>,
    crew: Cursor,
    attention: Cursor,
    pub tasks: Tasks,
    pub live: Live,
}

/// Returns true if one of the texts contains `small`, ignoring case.
pub fn any_has<'a>(texts: impl IntoIterator<Item = &'a str>, small: &str) -> bool {
    let mut texts = texts.into_iter();
    texts.any(|text| text.to_lowercase().contains(small))
}

impl State {
    pub fn new(setting: Setting) -> State {
        State {
            now: setting.now,
            setting,
            panel: Panel::default(),
            filter: String::new(),
            typing: false,
            popup: None,
            fault: None,
            seq: None,
            live_claims: 0,
            agents: Vec::new(),
            items: Vec::new(),
            more_items: 0,
            shown_agents: Vec::new(),
            shown_items: Vec::new(),
            crew: Cursor::default(),
            attention: Cursor::default(),
            tasks: Tasks::default(),
            live: Live::default(),
        }
    }

    /// Creates the state of a team that was read once.
    pub fn loaded(setting: Setting, loaded: Loaded) -> State {
        let mut state = State::new(setting);
        state.update(Change::Loaded(Box::new(loaded)));
        state
    }

    /// Applies a change. Returns false if the user quits the board.
    pub fn update(&mut self, change: Change) -> bool {
        let mut goes_on = true;
        match change {
            Change::Key(key) => goes_on = self.key(key),
            Change::Interrupt => goes_on = false,
            Change::Tick(now) => self.now = now,
            Change::Loaded(loaded) => self.take(*loaded),
            Change::Failed(fault) => self.fault = Some(fault),
            Change::Size(columns, rows) => self.setting.size = (columns, rows),
        }
        self.settle();
        goes_on
    }

    pub fn layout(&self) -> Layout {
        let (columns, rows) = self.setting.size;
        let area = Rect::new(0, 0, columns, rows);
        Layout::new(area, self.fault.is_some(), self.panel)
    }

    pub fn cursor(&self, panel: Panel) -> Cursor {
        match panel {
            Panel::Crew => self.crew,
            Panel::Board => self.tasks.cursor,
            Panel::Attention => self.attention,
            Panel::Live => self.live.cursor,
        }
    }

    pub fn len(&self, panel: Panel) -> usize {
        match panel {
            Panel::Crew => self.shown_agents.len(),
            Panel::Board => self.tasks.len(),
            Panel::Attention => self.shown_items.len(),
            Panel::Live => self.live.len(),
        }
    }

    /// Returns the number of all entries of a panel, ignoring the filter.
    pub fn total(&self, panel: Panel) -> usize {
        match panel {
            Panel::Crew => self.agents.len(),
            Panel::Board => self.tasks.count(),
            Panel::Attention => self.items.len() + self.more_items,
            Panel::Live => self.live.len(),
        }
    }

    pub fn agent(&self, row: usize) -> Option<&WhoAgent> {
        self.agents.get(*self.shown_agents.get(row)?)
    }

    pub fn item(&self, row: usize) -> Option<&Item> {
        self.items.get(*self.shown_items.get(row)?)
    }

    pub fn has_errors(&self) -> bool {
        let mut items = self.items.iter();
        items.any(|item| item.severity == AttentionSeverity::Error)
    }

    pub fn time(&self, at: Timestamp) -> String {
        let Setting { clock, zone, .. } = &self.setting;
        clock.show(at, self.now, zone)
    }

    fn take(&mut self, loaded: Loaded) {
        let agent = self.agent(self.crew.row).map(|agent| agent.agent.clone());
        let item = self.item(self.attention.row).map(|item| item.text.clone());
        self.fault = None;
        self.seq = Some(loaded.seq);
        self.now = loaded.now;
        self.live_claims = loaded.live_claims;
        self.agents = loaded.agents;
        self.items = loaded.items;
        self.more_items = loaded.more_items;
        for item in &mut self.items {
            if let Some(rest) = item.command.strip_prefix("teamlog ") {
                item.command = format!("{} {rest}", self.setting.program);
            }
        }
        if let Some((tasks, in_vain)) = loaded.tasks {
            self.tasks.take(tasks, in_vain, &self.filter);
        }
        self.live.take(loaded.lines, loaded.fresh, &self.filter);
        self.choose_agents_and_items();
        let mut rows = 0..self.shown_agents.len();
        let row = rows.find(|row| self.agent(*row).map(|one| &one.agent) == agent.as_ref());
        self.crew.row = row.unwrap_or(self.crew.row);
        let mut rows = 0..self.shown_items.len();
        let row = rows.find(|row| self.item(*row).map(|one| &one.text) == item.as_ref());
        self.attention.row = row.unwrap_or(self.attention.row);
    }

    fn choose(&mut self) {
        self.choose_agents_and_items();
        self.tasks.choose(&self.filter);
        self.live.choose(&self.filter);
    }

    fn choose_agents_and_items(&mut self) {
        let filter = self.filter.as_str();
        let passes = |place: &usize| {
            let agent = &self.agents[*place];
            let tasks = agent.working_on.iter().chain(&agent.waiting);
            let tasks = tasks.flat_map(|task| [Some(&task.task_id), task.subject.as_ref()]);
            let texts = tasks.flatten().chain([&agent.agent]);
            any_has(texts.map(String::as_str), filter)
        };
        self.shown_agents = (0..self.agents.len()).filter(passes).collect();
        let passes = |place: &usize| {
            let item = &self.items[*place];
            any_has([&*item.text, &*item.command], filter)
        };
        self.shown_items = (0..self.items.len()).filter(passes).collect();
    }

    /// Moves the cursor of every list into the rows of the list, and scrolls to the cursor.
    fn settle(&mut self) {
        let layout = self.layout();
        for panel in Panel::ALL {
            let (len, height) = (self.len(panel), layout.rows(panel));
            self.cursor_mut(panel).settle(len, height);
        }
        if let Some(popup) = &mut self.popup {
            popup.top = popup.top.min(popup.lines.len().saturating_sub(1));
        }
    }

    fn cursor_mut(&mut self, panel: Panel) -> &mut Cursor {
        match panel {
            Panel::Crew => &mut self.crew,
            Panel::Board => &mut self.tasks.cursor,
            Panel::Attention => &mut self.attention,
            Panel::Live => &mut self.live.cursor,
        }
    }

    fn key(&mut self, key: KeyCode) -> bool {
        if self.typing {
            self.typed(key);
            return true;
        }
        if self.popup.is_some() {
            self.popup_key(key);
            return true;
        }
        let page = self.layout().rows(self.panel).max(2) as isize - 1;
        match key {
            KeyCode::Char('q') => return false,
            KeyCode::Esc if self.filter.is_empty() => return false,
            KeyCode::Esc => {
                self.filter.clear();
                self.choose();
            }
            KeyCode::Char('?') => self.popup = Some(details::keys()),
            KeyCode::Char('/') => self.typing = true,
            KeyCode::Char('t') => self.setting.clock = self.setting.clock.next(),
            KeyCode::Char('p' | ' ') => self.live.toggle(&self.filter),
            KeyCode::Char(digit @ '1'..='4') => {
                self.panel = Panel::ALL[digit as usize - '1' as usize];
            }
            KeyCode::Tab => self.panel = self.panel.on(1),
            KeyCode::BackTab => self.panel = self.panel.on(Panel::ALL.len() - 1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') if self.panel == Panel::Live => {
                self.live.resume(&self.filter);
            }
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            KeyCode::Enter => self.open(),
            _ => {}
        }
        true
    }

    fn typed(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char(c) => self.filter.extend(c.to_lowercase()),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => {
                self.typing = false;
                self.filter.clear();
            }
            _ => return,
        }
        self.choose();
    }

    fn popup_key(&mut self, key: KeyCode) {
        let Some(popup) = &mut self.popup else {
            return;
        };
        let page = usize::from(self.setting.size.1 / 2).max(1);
        match key {
            KeyCode::Down | KeyCode::Char('j') => popup.top += 1,
            KeyCode::Up | KeyCode::Char('k') => popup.top = popup.top.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => popup.top += page,
            KeyCode::PageUp => popup.top = popup.top.saturating_sub(page),
            KeyCode::Home => popup.top = 0,
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?') => self.popup = None,
            _ => {}
        }
    }

    fn step(&mut self, rows: isize) {
        let len = self.len(self.panel);
        if self.panel == Panel::Live && rows < 0 {
            // Moving the selection pauses the list, so that the list does not scroll away.
            self.live.stop();
        }
        let cursor = self.cursor_mut(self.panel);
        cursor.step(rows);
        cursor.row = cursor.row.min(len.saturating_sub(1));
    }

    /// Opens a popup with all fields of the selected row.
    fn open(&mut self) {
        let row = self.cursor(self.panel).row;
        if let (Panel::Board, Some(Row::Group(status, _))) = (self.panel, self.tasks.row(row)) {
            self.tasks.fold(status, &self.filter);
            return;
        }
        self.popup = details::of_row(self, self.panel, row);
    }
}
