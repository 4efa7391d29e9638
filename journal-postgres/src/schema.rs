//! The tables of a journal, and every statement on them.

/// Version of the tables.
pub const SCHEMA: i32 = 4;

/// Creates missing tables, and migrates tables of an older version.
///
/// A group follows exactly its predecessor: `first_seq` and `prev` are the `next_seq` and `chain` of another row. So a log's
/// first row also shows that the log is known. Hosts may insert groups and read; they change and delete nothing. Only
/// `teamlog_enroll` inserts the row at the start of a log, and only `teamlog_turn` changes a log's state. Both functions fix
/// the search path for the tables, with the caller's temporary tables last. `teamlog_readmit` lets a log that left be loaded
/// again. In the table of hosts a role changes only its own rows; a host is known there by an id that the host created.
pub const CREATE: &str = "
select set_config('search_path', quote_ident(current_schema()) || ', pg_temp', false);
create table if not exists teamlog_meta (
  single boolean primary key default true check (single),
  schema int not null, min_reader int not null, journal_id uuid not null,
  min_copies int not null check (min_copies >= 1));
create table if not exists teamlog_log (
  log uuid primary key, team text not null unique, identity bytea not null, segment_bytes_max bigint not null,
  state text not null check (state in ('loading', 'open', 'left')), fold_version int not null default 0);
create table if not exists teamlog_group (
  log uuid not null,
  first_seq bigint not null, last_seq bigint not null check (last_seq >= first_seq),
  next_seq bigint generated always as (last_seq + 1) stored,
  base boolean not null default false, prev bytea, chain bytea not null, last_id uuid, bytes bytea not null,
  primary key (log, first_seq), unique (log, next_seq, chain), check ((prev is null) = base),
  foreign key (log, first_seq, prev) references teamlog_group (log, next_seq, chain));
do $$
begin
  if not exists (select from information_schema.columns
    where table_schema = current_schema() and table_name = 'teamlog_host' and column_name = 'owner') then
    drop table if exists teamlog_host;
  end if;
end $$;
create table if not exists teamlog_host (
  host text, name text not null, log uuid, owner name not null default current_user,
  seq bigint, state_digest text, followed bigint, seen_at timestamptz not null,
  primary key (host, log, owner));
alter table teamlog_host enable row level security;
drop policy if exists teamlog_host_shown on teamlog_host;
drop policy if exists teamlog_host_added on teamlog_host;
drop policy if exists teamlog_host_changed on teamlog_host;
create policy teamlog_host_shown on teamlog_host for select using (true);
create policy teamlog_host_added on teamlog_host for insert with check (owner = current_user);
create policy teamlog_host_changed on teamlog_host for update using (owner = current_user) with check (owner = current_user);
alter table teamlog_group add column if not exists begins text;
alter table teamlog_log add column if not exists returns boolean not null default false;
create table if not exists teamlog_artifact (log uuid, digest text, bytes bytea not null, primary key (log, digest));
drop function if exists teamlog_enroll(uuid, text, bytea, bigint);
create or replace function teamlog_enroll(a_log uuid, a_team text, an_identity bytea, a_max bigint, a_state text)
returns boolean language plpgsql security definer set search_path from current as $$
begin
  insert into teamlog_log (log, team, identity, segment_bytes_max, state)
  values (a_log, a_team, an_identity, a_max, a_state) on conflict do nothing;
  if found then
    insert into teamlog_group (log, first_seq, last_seq, base, chain, bytes)
    values (a_log, 0, 0, true, decode(repeat('00', 32), 'hex'), '');
  else
    update teamlog_log set identity = an_identity, segment_bytes_max = a_max
    where log = a_log and team = a_team and state = 'loading' and a_state = 'loading' and not returns;
  end if;
  return exists (select from teamlog_log
    where log = a_log and team = a_team and identity = an_identity and state = a_state and not returns);
end $$;
create or replace function teamlog_readmit(a_log uuid, a_team text)
returns bytea language plpgsql security definer set search_path from current as $$
begin
  update teamlog_log set state = 'loading', returns = true where log = a_log and team = a_team and state = 'left';
  return (select identity from teamlog_log where log = a_log and team = a_team and state = 'loading' and returns);
end $$;
create or replace function teamlog_turn(a_log uuid, a_first bigint, a_last bigint, a_prev bytea, a_chain bytea, an_id uuid,
  some_bytes bytea, some_begins text, a_from text, a_to text)
returns boolean language plpgsql security definer set search_path from current as $$
begin
  if (a_from, a_to) not in (('loading', 'open'), ('open', 'left')) then
    raise exception 'a log does not come from % into %', a_from, a_to;
  end if;
  perform from teamlog_log where log = a_log and state = a_from for update;
  if not found then
    return false;
  end if;
  insert into teamlog_group (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
  values (a_log, a_first, a_last, a_prev, a_chain, an_id, some_bytes, some_begins) on conflict do nothing;
  if not found then
    return false;
  end if;
  update teamlog_log set state = a_to, returns = false where log = a_log;
  return true;
end $$;
create or replace function teamlog_raise_fold_version(a_log uuid, a_version int)
returns void language sql security definer set search_path from current as $$
  update teamlog_log set fold_version = a_version where log = a_log and fold_version < a_version
$$;
do $$
begin
  create role teamlog_host_role nologin;
exception when duplicate_object or insufficient_privilege then null;
end $$;
revoke execute on function teamlog_enroll, teamlog_readmit, teamlog_turn, teamlog_raise_fold_version from public;
do $$
begin
  grant execute on function teamlog_enroll, teamlog_readmit, teamlog_turn, teamlog_raise_fold_version to teamlog_host_role;
  grant select on teamlog_meta, teamlog_log, teamlog_group, teamlog_host, teamlog_artifact to teamlog_host_role;
  grant insert (log, first_seq, last_seq, prev, chain, last_id, bytes, begins) on teamlog_group to teamlog_host_role;
  grant insert on teamlog_artifact to teamlog_host_role;
  grant insert, update on teamlog_host to teamlog_host_role;
exception when undefined_object or insufficient_privilege then null;
end $$;";

/// Stores the journal's id. A second call changes nothing.
pub const NAME: &str = "
insert into teamlog_meta (schema, min_reader, journal_id, min_copies)
values ($1, $1, gen_random_uuid(), $2) on conflict do nothing";

/// Reads the version of the existing tables.
pub const VERSION: &str = "select schema from teamlog_meta";

/// Stores this version after a migration.
pub const MIGRATED: &str = "update teamlog_meta set schema = $1, min_reader = $1 where schema < $1";

/// Marks the session with a word of the connection. Returns the session's previous mark. If a pooler shares the session, this is
/// the mark of another connection.
pub const MARK: &str = "
select coalesce(current_setting('teamlog.session', true), ''), set_config('teamlog.session', $1, false)";

/// Settings of every connection. A warning shows that a commit did not wait for its copies, so warnings must be on.
pub const SETTINGS: &str = "
set synchronous_commit = on; set client_min_messages = notice; set statement_timeout = 0; set lock_timeout = 0";

/// Reads the journal's id, and the settings for its durability.
pub const LOOK: &str = "
select m.schema, m.min_reader, m.journal_id::text, m.min_copies,
  current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_standby_names'),
  (select count(*)::int from pg_stat_replication where state = 'streaming' and sync_state in ('sync', 'quorum')),
  case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end,
  current_setting('server_version'), (select system_identifier from pg_control_system()),
  pg_is_in_recovery(), coalesce(current_setting('teamlog.session', true), '')
from teamlog_meta m";

/// Like `LOOK`, without the functions that a managed service may refuse. Also reads the ids of the journal's objects, which a
/// dump that is restored elsewhere does not have.
pub const LOOK_EXTERNAL: &str = "
select m.schema, m.min_reader, m.journal_id::text, m.min_copies,
  current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_standby_names'), 0, null::text, current_setting('server_version'), null::int8,
  pg_is_in_recovery(), coalesce(current_setting('teamlog.session', true), ''),
  concat_ws(' ', (select oid from pg_database where datname = current_database()),
    (select string_agg(concat_ws('/', relname, oid, relowner), ' ' order by relname) from pg_class
     where oid in ('teamlog_meta'::regclass, 'teamlog_log'::regclass, 'teamlog_group'::regclass, 'teamlog_artifact'::regclass)))
from teamlog_meta m";

/// Index of a column in `LOOK` and `LOOK_EXTERNAL`. The column is true for a standby. The next columns are the mark of the
/// session and the ids of objects.
pub const LOOK_STANDBY: usize = 12;
pub const LOOK_SESSION: usize = 13;
pub const LOOK_OBJECTS: usize = 14;

/// Reads the timeline of a primary.
pub const TIMELINE: &str = "select case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end";

/// Reads the id of the system of servers.
pub const SYSTEM: &str = "select system_identifier::text from pg_control_system()";

/// Commits a write in the journal with the given id. Afterwards all earlier reads are on as many servers as this write.
pub const BARRIER: &str = "
insert into teamlog_host (host, name, log, seen_at)
select $1, $2, '00000000-0000-0000-0000-000000000000', clock_timestamp() from teamlog_meta where journal_id = $3::text::uuid
on conflict (host, log, owner) do update set name = excluded.name, seen_at = excluded.seen_at";

/// Notes the event up to which a host has followed a log. Nothing depends on the note, so the commit waits for no disk and no
/// copy.
pub const FOLLOWED: &str = "
with hint as materialized (select set_config('synchronous_commit', 'off', true))
insert into teamlog_host (host, name, log, followed, seen_at)
select $1, $2, $3::text::uuid, $4, clock_timestamp() from hint
on conflict (host, log, owner) do update set name = excluded.name, followed = excluded.followed, seen_at = excluded.seen_at";

/// Appends groups, in the order of their logs, so that two hosts never wait for each other. Returns the inserted groups. Inserts
/// no groups in a session of another connection, which may lack the settings.
pub const APPEND: &str = "
insert into teamlog_group (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
select g.log::uuid, g.first_seq, g.last_seq, g.prev, g.chain, g.last_id::uuid, g.bytes, g.begins
from unnest($1::text[], $2::int8[], $3::int8[], $4::bytea[], $5::bytea[], $6::text[], $7::bytea[], $8::text[])
  as g (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
join teamlog_log l on l.log = g.log::uuid and l.state = $9 and current_setting('teamlog.session', true) = $10
order by g.log, g.first_seq on conflict do nothing returning log::text, first_seq";

/// Like `APPEND`, for one group. A server answers this statement faster.
pub const APPEND_ONE: &str = "
insert into teamlog_group (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
select l.log, $2, $3, $4, $5, $6::text::uuid, $7, $8 from teamlog_log l
where l.log = $1::text::uuid and l.state = $9 and current_setting('teamlog.session', true) = $10 on conflict do nothing returning log::text, first_seq";

/// Like `APPEND_ONE`, and also changes the state of the log.
pub const TURN: &str = "
select $1::text, $2::int8 where current_setting('teamlog.session', true) = $10
  and teamlog_turn($1::text::uuid, $2::int8, $3, $4, $5, $6::text::uuid, $7, $8, $9, $11)";

/// Sets the fold version for all hosts, if the given version is higher than the current version.
pub const RAISE_FOLD_VERSION: &str = "select teamlog_raise_fold_version($1::text::uuid, $2)";

/// Stores the bytes of an artifact.
pub const PUT_BLOB: &str = "
insert into teamlog_artifact (log, digest, bytes) values ($1::text::uuid, $2, $3) on conflict do nothing";

/// Notes the digest of a host's state at an event.
pub const NOTE_STATE: &str = "
insert into teamlog_host (host, name, log, seq, state_digest, seen_at)
values ($1, $5, $2::text::uuid, $3, $4, clock_timestamp())
on conflict (host, log, owner) do update set name = excluded.name, seq = excluded.seq, state_digest = excluded.state_digest, seen_at = excluded.seen_at";

/// Reads the hosts whose state at the same event differs.
pub const OTHER_STATES: &str = "
select max(name) from teamlog_host where log = $1::text::uuid and seq = $2 and state_digest <> $3 group by host order by 1";

/// Reads the bytes of an artifact.
pub const BLOB: &str =
    "select bytes from teamlog_artifact where log = $1::text::uuid and digest = $2";

/// Reads the row in a group's place, and checks if the group's predecessor exists.
pub const STANDS: &str = "
select l.state, g.chain,
  exists (select from teamlog_group p where p.log = l.log and p.next_seq = $2 and p.chain = $3)
from teamlog_log l left join teamlog_group g on g.log = l.log and g.first_seq = $2
where l.log = $1::text::uuid";

/// Reads the row of a position and the rows after it. Stops at a number of rows, or at about a number of bytes.
pub const READ: &str = "
select last_seq, chain, bytes, begins, (extract(epoch from clock_timestamp()) * 1000000)::int8,
  (select fold_version from teamlog_log where log = $1::text::uuid) from (
  select last_seq, chain, bytes, begins, sum(length(bytes)) over (order by next_seq) - length(bytes) as before from (
    select last_seq, next_seq, chain, begins, case when next_seq = $2 then '' else bytes end as bytes
    from teamlog_group where log = $1::text::uuid and next_seq >= $2 order by next_seq limit $4) page) sized
where before < $3 order by last_seq";

/// Reads the stored rows of a log. Stops at a number of rows, or at about a number of bytes.
pub const ROWS: &str = "
select first_seq, last_seq, prev, chain, bytes from (
  select *, sum(length(bytes)) over (order by first_seq) - length(bytes) as before from (
    select first_seq, last_seq, prev, chain, bytes from teamlog_group
    where log = $1::text::uuid and first_seq >= $2 order by first_seq limit 1024) page) sized
where before < $3 order by first_seq";

/// Writes a group to its place, and replaces any row there.
pub const RESTORE: &str = "
insert into teamlog_group as g (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
values ($1::text::uuid, $2, $3, $4, $5, $6::text::uuid, $7, $8)
on conflict (log, first_seq) do update set last_seq = excluded.last_seq, prev = excluded.prev, chain = excluded.chain,
  last_id = excluded.last_id, bytes = excluded.bytes where not g.base";

/// Lists the tables, functions and rights that a host needs but does not have.
pub const MISSING: &str = "
select 'table ' || name || ' is missing' from unnest(array[
    'teamlog_log', 'teamlog_group', 'teamlog_host', 'teamlog_artifact']) name where to_regclass(name) is null
union all
select 'function ' || name || ' is missing' from unnest(array[
    'teamlog_enroll', 'teamlog_readmit', 'teamlog_turn', 'teamlog_raise_fold_version']) name
  where not exists (select from pg_proc where proname = name and pronamespace = current_schema()::regnamespace)
union all
select 'role ' || current_user || ' lacks the right to ' || wanted || ' ' || name from (values
    ('teamlog_log', 'select'), ('teamlog_group', 'select'), ('teamlog_group', 'insert'), ('teamlog_host', 'select'),
    ('teamlog_host', 'insert'), ('teamlog_host', 'update'), ('teamlog_artifact', 'select'), ('teamlog_artifact', 'insert'))
    as needed (name, wanted)
  where not coalesce(has_any_column_privilege(to_regclass(name), wanted), true)";

/// Reads the end of a log, and the start of the part that is still stored.
pub const END: &str =
    "select max(last_seq), min(last_seq) from teamlog_group where log = $1::text::uuid";

/// Removes the rows before an event, at most a thousand groups. The last removed group becomes the row at the start of the log.
/// Returns the number of removed groups and bytes.
pub const TRIM: &str = "
with border as (
  select max(next_seq) as next_seq from (
    select next_seq from teamlog_group where log = $1::text::uuid and next_seq <= $2 and not base order by next_seq limit 1000) few),
emptied as (
  update teamlog_group g set base = true, prev = null, bytes = '', begins = null from border b
  where g.log = $1::text::uuid and g.next_seq = b.next_seq
  returning (select o.bytes from teamlog_group o where o.log = g.log and o.next_seq = g.next_seq) as bytes),
removed as (
  delete from teamlog_group g using border b where g.log = $1::text::uuid and g.next_seq < b.next_seq
  returning g.bytes, g.base)
select count(*), coalesce(sum(length(bytes)), 0)::int8 from (
  select bytes from emptied union all select bytes from removed where not base) gone";

/// Reads the hosts that noted that they have a log up to an event.
pub const HOLDERS: &str = "select max(name) from teamlog_host where log = $1::text::uuid and seq >= $2 group by host order by 1";

/// Registers a log.
pub const ENROLL: &str = "select teamlog_enroll($1::text::uuid, $2, $3, $4, $5)";

/// Reads the log of a team, and its state.
pub const FIND: &str = "select identity, state from teamlog_log where team = $1";

/// Reads the size of a log.
pub const STATUS: &str = "
select l.state, coalesce(max(g.last_seq), 0), count(g.last_seq) filter (where not g.base),
  coalesce(sum(length(g.bytes)), 0)::int8
from teamlog_log l left join teamlog_group g on g.log = l.log where l.log = $1::text::uuid group by l.state";

/// Lets a log that left be loaded again.
pub const READMIT: &str = "select teamlog_readmit($1::text::uuid, $2)";

/// Reads the last contact of each host, and the event up to which it followed a log.
pub const HOSTS: &str = "
select host, max(name), extract(epoch from clock_timestamp() - max(seen_at))::float8,
  max(followed) filter (where log = $1::text::uuid)
from teamlog_host group by host
having bool_or(log <> '00000000-0000-0000-0000-000000000000') order by 2, 1";
