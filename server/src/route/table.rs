//! The table of routes, and how a path finds its row.

use super::endpoint::{Route, parameter, row};
use super::parts::{self, Part};
use super::{document, events, inbox, operations, paths, story, tasks, teams, threads, usage};
use crate::call::Method;
use std::sync::LazyLock;
use teamlog_team::api::shape::Shape;

/// Every route, in the order in which they are documented. Where two patterns fit a path, the first counts.
pub static ROUTES: &[Route] = &[
    // the team
    row::<teams::List>(),
    row::<teams::SetUp>(),
    row::<teams::Show>(),
    row::<story::Status>(),
    row::<story::Who>(),
    // tasks
    row::<tasks::List>(),
    row::<tasks::Create>(),
    row::<tasks::Show>(),
    row::<tasks::Claim>(),
    row::<tasks::Renew>(),
    row::<tasks::Complete>(),
    row::<tasks::Fail>(),
    row::<paths::CanWrite>(),
    // threads, and what agents are told
    row::<threads::Start>(),
    row::<threads::Search>(),
    row::<threads::Post>(),
    row::<threads::Messages>(),
    row::<threads::Tail>(),
    row::<threads::Link>(),
    row::<inbox::Inbox>(),
    // what it costs
    row::<usage::Show>(),
    row::<usage::Report>(),
    // what happened, and what goes on
    row::<events::Events>(),
    row::<story::Trace>(),
    row::<story::Modes>(),
    // everything else
    row::<operations::Call>(),
    row::<document::Document>(),
];

/// A route with what its input looks like.
pub struct Compiled {
    pub route: &'static Route,
    pub shape: Shape,
    /// The objects inside the input.
    pub parts: Vec<Part>,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Copy)]
enum Segment {
    Is(&'static str),
    Any(&'static str),
}

/// What a method and a path lead to.
pub enum Found {
    Route(&'static Compiled, Vec<(&'static str, String)>),
    OtherMethods(Vec<Method>),
    Nothing,
}

static COMPILED: LazyLock<Vec<Compiled>> =
    LazyLock::new(|| ROUTES.iter().map(Compiled::of).collect());

impl Compiled {
    fn of(route: &'static Route) -> Compiled {
        let segments = route.facts.pattern.split('/').skip(1);
        let schema = route.input_schema();
        Compiled {
            route,
            shape: Shape::of(&schema),
            parts: parts::of(&schema),
            segments: segments
                .map(|segment| parameter(segment).map_or(Segment::Is(segment), Segment::Any))
                .collect(),
        }
    }

    /// Whether the path gives that field.
    pub fn is_parameter(&self, name: &str) -> bool {
        let mut segments = self.segments.iter();
        segments.any(|segment| matches!(segment, Segment::Any(own) if *own == name))
    }

    /// The parameters of a path, if it is one of this route.
    fn parameters(&self, path: &[String]) -> Option<Vec<(&'static str, String)>> {
        if path.len() != self.segments.len() {
            return None;
        }
        let mut parameters = Vec::new();
        for (segment, given) in self.segments.iter().zip(path) {
            match segment {
                Segment::Is(word) if word == given => {}
                Segment::Any(name) if !given.is_empty() => parameters.push((*name, given.clone())),
                _ => return None,
            }
        }
        Some(parameters)
    }
}

/// The route of a method and a path.
pub fn find(method: Method, path: &[String]) -> Found {
    for compiled in COMPILED.iter() {
        if compiled.route.facts.method == method
            && let Some(parameters) = compiled.parameters(path)
        {
            return Found::Route(compiled, parameters);
        }
    }
    match methods(path) {
        methods if methods.is_empty() => Found::Nothing,
        methods => Found::OtherMethods(methods),
    }
}

/// The methods that a path takes.
pub fn methods(path: &[String]) -> Vec<Method> {
    let fitting = COMPILED
        .iter()
        .filter(|compiled| compiled.parameters(path).is_some());
    let mut methods: Vec<Method> = fitting
        .map(|compiled| compiled.route.facts.method)
        .collect();
    methods.sort_unstable();
    methods.dedup();
    methods
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_parameter_is_a_required_field_and_every_id_is_new() {
        let mut ids = BTreeSet::new();
        for compiled in COMPILED.iter() {
            let facts = &compiled.route.facts;
            assert!(ids.insert(facts.id), "{}", facts.id);
            assert!(!facts.doc.ends_with('.'), "{}", facts.id);
            for name in compiled.route.parameters() {
                let field = compiled.shape.field(name);
                assert!(
                    field.is_some_and(|field| field.required),
                    "{} {name}",
                    facts.id
                );
            }
        }
    }

    #[test]
    fn every_code_that_a_route_names_has_a_row() {
        for route in ROUTES {
            for code in route.facts.codes {
                let known = super::super::CODES.iter().any(|row| row.code == *code);
                assert!(known, "{}: {code}", route.facts.id);
            }
        }
    }

    #[test]
    fn no_route_hides_behind_an_earlier_one() {
        for (at, route) in ROUTES.iter().enumerate() {
            let path: Vec<String> = route
                .facts
                .pattern
                .split('/')
                .skip(1)
                .map(String::from)
                .collect();
            match find(route.facts.method, &path) {
                Found::Route(found, _) => assert!(std::ptr::eq(found.route, &raw const ROUTES[at])),
                _ => panic!("{} leads nowhere", route.facts.pattern),
            }
        }
    }
}
