//! Tests of the daemon with its routes over HTTP.
mod damage;
mod endpoints;
mod exchanges;
mod integrity;
mod journals;
mod page_sessions;
mod restarts;
mod root_teams;
mod stand;
mod subscriptions;
mod tour;
mod waits;
