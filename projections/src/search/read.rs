//! Answers of the index: finds the newest matches by intersecting postings, and examines the texts of candidates if the
//! postings do not decide.

use super::{Document, Kind, Matcher, Query, TEXT_TERMS, Term};
use crate::event_index::tag_series;
use crate::feed;
use crate::postings::{Stream, prefixed};
use crate::prelude::*;
use crate::task::{TASK_KIND, TASK_TERMS, Task};
use crate::terms::{TermKind, Words, term};

/// Steps of one call: postings that are looked up, and examined texts. A call that reaches this number says where to continue.
const STEPS_MAX: usize = 50_000;
/// Steps that the examination of a text counts for, beside one per [`STEP_BYTES`].
const TEXT_STEPS: usize = 10;
/// Bytes of a text per step.
const STEP_BYTES: usize = 256;

/// A place in the order of everything that can be found. Places of one event: its text, then the task that it created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(u64);

impl Position {
    /// Returns the place of a task, or of a text, by the event that recorded it.
    pub fn new(seq: u64, is_task: bool) -> Position {
        Position(seq.saturating_mul(2).saturating_add(u64::from(is_task)))
    }
    /// Returns the place with this number.
    pub fn from_number(number: u64) -> Position {
        Position(number)
    }
    /// Returns the place as a number.
    pub fn number(self) -> u64 {
        self.0
    }
    fn seq(self) -> u64 {
        self.0 / 2
    }
    fn is_task(self) -> bool {
        self.0 % 2 == 1
    }
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// A task, and the seq of the event that created it.
    Task(u64, Box<Task>),
    /// An event with a text.
    Text(Box<Event<'static>>, Box<Document>),
}

/// A page of matches, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPage {
    /// The matches.
    pub found: Vec<Match>,
    /// The place before which the next page begins; `None` if everything was examined.
    pub next: Option<Position>,
}

/// The steps that are left for a call.
struct Steps(usize);

impl Steps {
    fn take(&mut self, steps: usize) {
        self.0 = self.0.saturating_sub(steps);
    }
}

/// The next candidate of one kind of postings.
enum Candidate {
    Seq(u64),
    /// No more steps are left; everything after this seq was examined.
    Stopped(u64),
    None,
}

impl TeamState {
    /// Returns the newest matches of a query first: at most `limit` matches before `before`.
    ///
    /// The cost depends on the rarest term and the number of matches, not on the length of the log.
    pub fn search(
        &self,
        reader: &Reader,
        query: &Query,
        before: Option<Position>,
        limit: usize,
    ) -> Result<SearchPage> {
        let mut steps = Steps(STEPS_MAX);
        let newest = Position::new(query.end.unwrap_or(u64::MAX / 4), false);
        let before = before.map_or(newest, |before| before.min(newest));
        let mut tasks = Search::of_tasks(self, query)?;
        let mut texts = Search::of_texts(self, query)?;
        let mut page = SearchPage::default();
        let mut at = before;
        loop {
            let task = tasks.next(at, &mut steps)?;
            let text = texts.next(at, &mut steps)?;
            let (next, is_stopped) = match newer(task, text) {
                None => return Ok(page),
                Some(next) => next,
            };
            if page.found.len() == limit || is_stopped {
                page.next = Some(at);
                if is_stopped {
                    page.next = Some(Position(next.0 + 1).min(at));
                }
                return Ok(page);
            }
            at = next;
            let found = match next.is_task() {
                true => self.examine_task(query, next.seq(), &mut steps)?,
                false => self.examine_text(reader, query, next.seq(), &mut steps)?,
            };
            page.found.extend(found);
        }
    }

    fn examine_task(&self, query: &Query, seq: u64, steps: &mut Steps) -> Result<Option<Match>> {
        let Some(id) = self.task_of_posting(seq)? else {
            return Ok(None);
        };
        let Some(task) = self.task(&id)? else {
            return Ok(None);
        };
        let words = Words::from_texts(task.texts());
        steps.take(TEXT_STEPS + task.texts().map(str::len).sum::<usize>() / STEP_BYTES);
        for Term {
            is_negated,
            matcher,
        } in &query.terms
        {
            let is_match = match matcher {
                Matcher::Words { phrase, is_prefix } => words.contain(phrase, *is_prefix),
                Matcher::Kind(kind) => *kind == Kind::Task,
                Matcher::By(agent) => {
                    let by = term(TermKind::By, agent);
                    self.rows().has(&numbered(TASK_TERMS, &by, seq))?
                }
                Matcher::To(agent) => task.owner.as_ref() == Some(agent),
                Matcher::Task(wanted) => *wanted == id,
                Matcher::Status(status) => task.status == *status,
                Matcher::Label(label) => task.governed.plan.labels.contains(label),
                Matcher::Tag(_) => false,
            };
            if is_match == *is_negated {
                return Ok(None);
            }
        }
        Ok(Some(Match::Task(seq, Box::new(task))))
    }

    fn examine_text(
        &self,
        reader: &Reader,
        query: &Query,
        seq: u64,
        steps: &mut Steps,
    ) -> Result<Option<Match>> {
        let Some(event) = self.event(reader, seq)? else {
            return Ok(None);
        };
        steps.take(TEXT_STEPS + event.payload.len() / STEP_BYTES);
        // Postings of the engine also name foreign events and events without text.
        let document = match event.foreign {
            true if query.is_of_tags() => Document::from_tagged(&event),
            true => None,
            false => Document::from_event(&event, &Fact::decode(&event)?),
        };
        let Some(document) = document else {
            return Ok(None);
        };
        let words = document.words();
        let is_match = query.terms.iter().all(|term| {
            let is_match = match &term.matcher {
                Matcher::Words { phrase, is_prefix } => words.contain(phrase, *is_prefix),
                Matcher::Kind(kind) => *kind == document.kind || *kind == document.kind.whole(),
                Matcher::By(agent) => document.by == *agent,
                Matcher::To(agent) => document.to.contains(agent),
                Matcher::Task(task) => document.task.as_ref() == Some(task),
                Matcher::Status(_) | Matcher::Label(_) => false,
                Matcher::Tag(tag) => document.tags.contains(tag),
            };
            is_match != term.is_negated
        });
        Ok(is_match.then(|| Match::Text(Box::new(event), Box::new(document))))
    }
}

/// Returns the newer candidate, and true if the call stopped there.
fn newer(task: Candidate, text: Candidate) -> Option<(Position, bool)> {
    let place = |candidate, is_task| match candidate {
        Candidate::Seq(seq) => Some((Position::new(seq, is_task), false)),
        Candidate::Stopped(seq) => Some((Position::new(seq, is_task), true)),
        Candidate::None => None,
    };
    place(task, true).max(place(text, false))
}

/// A search in the postings of tasks, or of texts.
struct Search<'a> {
    /// The postings of each term; all must have a candidate.
    streams: Vec<Stream<'a>>,
    first: u64,
    is_task: bool,
    /// True if nothing can match.
    is_over: bool,
}

impl<'a> Search<'a> {
    fn new(query: &Query, is_task: bool) -> Search<'a> {
        Search {
            streams: Vec::new(),
            first: query.first,
            is_task,
            is_over: false,
        }
    }

    fn of_tasks(state: &'a TeamState, query: &Query) -> Result<Search<'a>> {
        let rows = state.rows();
        let mut search = Search::new(query, true);
        for matcher in positive(query) {
            let field = |kind, text: &str| key::series(TASK_TERMS, term(kind, text).as_bytes());
            let name = match matcher {
                Matcher::Words { phrase, is_prefix } => {
                    search.add_words(rows, TASK_TERMS, phrase, *is_prefix)?;
                    continue;
                }
                Matcher::Kind(kind) => {
                    search.is_over |= *kind != Kind::Task;
                    continue;
                }
                Matcher::Task(id) => {
                    let created = state.task_created_by(id)?;
                    search.streams.push(Stream::single(rows, created));
                    continue;
                }
                Matcher::By(agent) => field(TermKind::By, agent),
                Matcher::To(agent) => field(TermKind::To, agent),
                Matcher::Status(status) => field(TermKind::Status, status.name()),
                Matcher::Label(label) => field(TermKind::Label, label),
                Matcher::Tag(_) => {
                    search.is_over = true;
                    continue;
                }
            };
            search.streams.push(Stream::new(rows, [name]));
        }
        if search.streams.is_empty() {
            search.add_kinds(rows, TASK_TERMS, &[TASK_KIND]);
        }
        search.sort()?;
        Ok(search)
    }

    fn of_texts(state: &'a TeamState, query: &Query) -> Result<Search<'a>> {
        let rows = state.rows();
        if query.is_of_tags() {
            return Search::of_tags(state, query);
        }
        let mut search = Search::new(query, false);
        for matcher in positive(query) {
            let name = match matcher {
                Matcher::Words { phrase, is_prefix } => {
                    search.add_words(rows, TEXT_TERMS, phrase, *is_prefix)?;
                    continue;
                }
                Matcher::Kind(Kind::Task | Kind::Event)
                | Matcher::Status(_)
                | Matcher::Label(_)
                | Matcher::Tag(_) => {
                    search.is_over = true;
                    continue;
                }
                Matcher::Kind(kind) => {
                    let parts = Kind::ALL.into_iter();
                    let parts = parts.filter(|part| part == kind || part.whole() == *kind);
                    let names: Vec<&str> = parts.map(Kind::name).collect();
                    search.add_kinds(rows, TEXT_TERMS, &names);
                    continue;
                }
                Matcher::By(agent) => key::series(TEXT_TERMS, term(TermKind::By, agent).as_bytes()),
                Matcher::To(agent) => feed::addressed_to(agent),
                Matcher::Task(id) => {
                    key::series(key::POSTINGS + RefKind::Task as u8, id.as_bytes())
                }
            };
            search.streams.push(Stream::new(rows, [name]));
        }
        if search.streams.is_empty() {
            let kinds = Kind::ALL.map(Kind::name);
            search.add_kinds(rows, TEXT_TERMS, &kinds);
        }
        search.sort()?;
        Ok(search)
    }

    /// Searches the events with tags. Only tags and tasks of these events have postings; their texts are examined one by one.
    fn of_tags(state: &'a TeamState, query: &Query) -> Result<Search<'a>> {
        let rows = state.rows();
        let mut search = Search::new(query, false);
        for matcher in positive(query) {
            let name = match matcher {
                Matcher::Tag(tag) => tag_series(tag),
                Matcher::Task(id) => {
                    key::series(key::POSTINGS + RefKind::Task as u8, id.as_bytes())
                }
                Matcher::Kind(Kind::Event)
                | Matcher::Words { .. }
                | Matcher::By(_)
                | Matcher::To(_) => continue,
                Matcher::Kind(_) | Matcher::Status(_) | Matcher::Label(_) => {
                    search.is_over = true;
                    continue;
                }
            };
            search.streams.push(Stream::new(rows, [name]));
        }
        search.sort()?;
        Ok(search)
    }

    fn add_words(
        &mut self,
        rows: Rows<'a>,
        namespace: u8,
        phrase: &[String],
        is_prefix: bool,
    ) -> Result<()> {
        for (at, word) in phrase.iter().enumerate() {
            let word = term(TermKind::Word, word);
            if is_prefix && at + 1 == phrase.len() {
                let names = prefixed(rows, &key_of(namespace, word.as_bytes()))?;
                self.streams
                    .extend(names.map(|names| Stream::new(rows, names)));
            } else {
                let name = key::series(namespace, word.as_bytes());
                self.streams.push(Stream::new(rows, [name]));
            }
        }
        Ok(())
    }

    fn add_kinds(&mut self, rows: Rows<'a>, namespace: u8, kinds: &[&str]) {
        let names = kinds.iter().map(|kind| {
            let kind = term(TermKind::Kind, kind);
            key::series(namespace, kind.as_bytes())
        });
        self.streams.push(Stream::new(rows, names));
    }

    /// Puts the rarest term first, judged by the newest posting of each.
    fn sort(&mut self) -> Result<()> {
        let mut heads = Vec::new();
        for mut stream in self.streams.drain(..) {
            heads.push((stream.at_most(u64::MAX)?, stream));
        }
        heads.sort_by_key(|(head, _)| *head);
        self.streams = heads.into_iter().map(|(_, stream)| stream).collect();
        Ok(())
    }

    /// Returns the newest posting before a place that all terms have.
    fn next(&mut self, before: Position, steps: &mut Steps) -> Result<Candidate> {
        let last = match before.0.checked_sub(1) {
            Some(last) if Position(last).is_task() == self.is_task => Position(last).seq(),
            Some(last) if self.is_task => match Position(last).seq().checked_sub(1) {
                Some(seq) => seq,
                None => return Ok(Candidate::None),
            },
            Some(last) => Position(last).seq(),
            None => return Ok(Candidate::None),
        };
        if self.is_over {
            return Ok(Candidate::None);
        }
        let mut seq = last;
        'again: loop {
            for stream in &mut self.streams {
                if steps.0 == 0 {
                    return Ok(Candidate::Stopped(seq));
                }
                steps.take(1);
                match stream.at_most(seq)? {
                    Some(found) if found < self.first => break 'again,
                    Some(found) if found < seq => {
                        seq = found;
                        continue 'again;
                    }
                    Some(_) => {}
                    None => break 'again,
                }
            }
            return Ok(Candidate::Seq(seq));
        }
        self.is_over = true;
        Ok(Candidate::None)
    }
}

fn positive(query: &Query) -> impl Iterator<Item = &Matcher> {
    let terms = query.terms.iter().filter(|term| !term.is_negated);
    terms.map(|term| &term.matcher)
}
