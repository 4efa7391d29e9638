//! What is shown, and what each key, each second and each load changes of it. No clock, no terminal, no log.

use super::clock::Clock;
use super::cursor::Cursor;
use super::layout::{Layout, Panel};
use super::live::Live;
use super::load::{self, Loaded};
use super::tasks::{Row, Tasks};
use super::view::details;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;
use teamlog_team::Team;
use teamlog_team::attention::{AttentionItem as Item, AttentionSeverity};
use teamlog_team::engine::Timestamp;
use teamlog_team::worker::who::WhoAgent;

/// A key, as far as one means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    /// Ctrl-C.
    Interrupt,
}

#[derive(Debug)]
pub enum Change {
    Key(Key),
    Tick(Timestamp),
    Loaded(Box<Loaded>),
    Failed(Fault),
    Size(u16, u16),
}

/// Why a team could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Setting {
    pub team: String,
    /// The event and the time of which it is shown, if not of now.
    pub at: Option<(u64, Timestamp)>,
    /// Which way times are shown at first.
    pub clock: Clock,
    /// How commands begin, for the same data root.
    pub program: String,
    pub zone: TimeZone,
    pub colours: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    pub now: Timestamp,
}

/// Something in front of the panels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    pub title: String,
    /// Name and value; either may be empty.
    pub lines: Vec<(String, String)>,
    /// The first line that is seen.
    pub top: usize,
}

#[derive(Debug)]
pub struct State {
    pub setting: Setting,
    /// The panel that has the keys.
    pub panel: Panel,
    /// What is looked for, in small letters.
    pub filter: String,
    pub typing: bool,
    pub popup: Option<Popup>,
    /// Why what is shown may be old.
    pub fault: Option<Fault>,
    pub now: Timestamp,
    /// The last event that is known; nothing before the first load.
    pub seq: Option<u64>,
    pub live_claims: u64,
    agents: Vec<WhoAgent>,
    items: Vec<Item>,
    shown_agents: Vec<usize>,
    shown_items: Vec<usize>,
    crew: Cursor,
    attention: Cursor,
    pub tasks: Tasks,
    pub live: Live,
}

/// Whether one of the texts holds the words, whatever the case.
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
            shown_agents: Vec::new(),
            shown_items: Vec::new(),
            crew: Cursor::default(),
            attention: Cursor::default(),
            tasks: Tasks::default(),
            live: Live::default(),
        }
    }

    /// With one look at a team.
    pub fn read(setting: Setting, team: &mut Team) -> teamlog_team::Result<State> {
        let mut state = State::new(setting);
        let loaded = load::look(team, None)?;
        state.update(Change::Loaded(Box::new(loaded)));
        Ok(state)
    }

    /// Goes on with what happened. Whether there is more to show; not where somebody leaves.
    pub fn update(&mut self, change: Change) -> bool {
        let goes_on = match change {
            Change::Key(key) => self.key(key),
            Change::Tick(now) => {
                self.now = now;
                true
            }
            Change::Loaded(loaded) => {
                self.take(*loaded);
                true
            }
            Change::Failed(fault) => {
                self.fault = Some(fault);
                true
            }
            Change::Size(columns, rows) => {
                self.setting.size = (columns, rows);
                true
            }
        };
        self.settle();
        goes_on
    }

    pub fn layout(&self) -> Layout {
        let (columns, rows) = self.setting.size;
        let area = Rect::new(0, 0, columns, rows);
        Layout::of(area, self.fault.is_some(), self.panel)
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

    /// How many of its things there are, whatever is looked for.
    pub fn total(&self, panel: Panel) -> usize {
        match panel {
            Panel::Crew => self.agents.len(),
            Panel::Board => self.tasks.count(),
            Panel::Attention => self.items.len(),
            Panel::Live => self.live.len(),
        }
    }

    pub fn agent(&self, row: usize) -> Option<&WhoAgent> {
        self.shown_agents
            .get(row)
            .and_then(|place| self.agents.get(*place))
    }

    pub fn item(&self, row: usize) -> Option<&Item> {
        self.shown_items
            .get(row)
            .and_then(|place| self.items.get(*place))
    }

    pub fn has_errors(&self) -> bool {
        self.items
            .iter()
            .any(|item| item.severity == AttentionSeverity::Error)
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
        let rows = 0..self.shown_agents.len();
        let row = rows
            .clone()
            .find(|row| self.agent(*row).map(|one| &one.agent) == agent.as_ref());
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
        let places = |passes: Vec<bool>| -> Vec<usize> {
            let places = passes.into_iter().enumerate();
            places
                .filter_map(|(place, passes)| passes.then_some(place))
                .collect()
        };
        let passes = |agent: &WhoAgent| {
            let tasks = agent.working_on.iter().chain(&agent.waiting);
            let tasks = tasks.flat_map(|task| [Some(&task.task_id), task.subject.as_ref()]);
            let texts = tasks.flatten().chain([&agent.agent]);
            any_has(texts.map(String::as_str), filter)
        };
        self.shown_agents = places(self.agents.iter().map(passes).collect());
        let passes = |item: &Item| any_has([&*item.text, &*item.command], filter);
        self.shown_items = places(self.items.iter().map(passes).collect());
    }

    /// Every list stays within its rows, and shows where somebody stands.
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

    fn key(&mut self, key: Key) -> bool {
        if key == Key::Interrupt {
            return false;
        }
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
            Key::Char('q') => return false,
            Key::Escape if self.filter.is_empty() => return false,
            Key::Escape => {
                self.filter.clear();
                self.choose();
            }
            Key::Char('?') => self.popup = Some(details::keys()),
            Key::Char('/') => self.typing = true,
            Key::Char('t') => self.setting.clock = self.setting.clock.next(),
            Key::Char('p' | ' ') => self.live.toggle(&self.filter),
            Key::Char(digit @ '1'..='4') => {
                self.panel = Panel::ALL[digit as usize - '1' as usize];
            }
            Key::Tab => self.panel = self.panel.on(1),
            Key::BackTab => self.panel = self.panel.on(Panel::ALL.len() - 1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::Up | Key::Char('k') => self.step(-1),
            Key::PageDown => self.step(page),
            Key::PageUp => self.step(-page),
            Key::Home | Key::Char('g') => self.step(isize::MIN),
            Key::End | Key::Char('G') if self.panel == Panel::Live => {
                self.live.resume(&self.filter);
            }
            Key::End | Key::Char('G') => self.step(isize::MAX),
            Key::Enter => self.open(),
            Key::Char(_) | Key::Backspace | Key::Interrupt => {}
        }
        true
    }

    fn typed(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.filter.extend(c.to_lowercase()),
            Key::Backspace => drop(self.filter.pop()),
            Key::Enter => self.typing = false,
            Key::Escape => {
                self.typing = false;
                self.filter.clear();
            }
            _ => return,
        }
        self.choose();
    }

    fn popup_key(&mut self, key: Key) {
        let Some(popup) = &mut self.popup else {
            return;
        };
        let page = usize::from(self.setting.size.1 / 2).max(1);
        match key {
            Key::Down | Key::Char('j') => popup.top += 1,
            Key::Up | Key::Char('k') => popup.top = popup.top.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => popup.top += page,
            Key::PageUp => popup.top = popup.top.saturating_sub(page),
            Key::Home => popup.top = 0,
            Key::Escape | Key::Enter | Key::Char('q' | '?') => self.popup = None,
            _ => {}
        }
    }

    fn step(&mut self, rows: isize) {
        let len = self.len(self.panel);
        if self.panel == Panel::Live && rows < 0 {
            // Whoever looks back does not want the list to move.
            self.live.stop();
        }
        let cursor = self.cursor_mut(self.panel);
        cursor.step(rows);
        cursor.row = cursor.row.min(len.saturating_sub(1));
    }

    /// Shows all of the row where somebody stands.
    fn open(&mut self) {
        let row = self.cursor(self.panel).row;
        if let (Panel::Board, Some(Row::Group(status, _))) = (self.panel, self.tasks.row(row)) {
            self.tasks.fold(status, &self.filter);
            return;
        }
        self.popup = details::of(self, self.panel, row);
    }
}
