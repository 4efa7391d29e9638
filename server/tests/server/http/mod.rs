//! The daemon and its routes together, as clients see them.
mod damage;
mod endpoints;
mod exchanges;
mod integrity;
mod journals;
mod page_sessions;
mod restarts;
mod root_teams;
mod stand;
mod tour;
mod waits;
