//! The tables of a journal, and every statement on them.

/// Version of the tables.
pub const SCHEMA: i32 = 3;

/// Makes the tables where they are not. A group stands behind exactly its predecessor: `first_seq` and `prev` are the
/// `next_seq` and `chain` of another row; so a log's first row also says that the log is known. Hosts may insert groups and
/// read; nothing is changed or deleted. The row from which a log begins is inserted by `teamlog_enroll` alone, and
/// `teamlog_turn` alone brings a log into another state; these keep the path by which they find the tables, with temporary ones of
/// whoever calls them last. Run on the tables of an older version it makes them those of this one.
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
create table if not exists teamlog_host (
  host text, log uuid, seq bigint, state_digest text, fold_version int, seen_at timestamptz not null,
  primary key (host, log));
alter table teamlog_group add column if not exists begins text;
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
    where log = a_log and team = a_team and state = 'loading' and a_state = 'loading';
  end if;
  return exists (select from teamlog_log
    where log = a_log and team = a_team and identity = an_identity and state = a_state);
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
  update teamlog_log set state = a_to where log = a_log;
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
revoke execute on function teamlog_enroll, teamlog_turn, teamlog_raise_fold_version from public;
do $$
begin
  grant execute on function teamlog_enroll, teamlog_turn, teamlog_raise_fold_version to teamlog_host_role;
  grant select on teamlog_meta, teamlog_log, teamlog_group, teamlog_host, teamlog_artifact to teamlog_host_role;
  grant insert (log, first_seq, last_seq, prev, chain, last_id, bytes, begins) on teamlog_group to teamlog_host_role;
  grant insert on teamlog_artifact to teamlog_host_role;
  grant insert, update on teamlog_host to teamlog_host_role;
exception when undefined_object or insufficient_privilege then null;
end $$;";

/// Says which journal this is, once.
pub const NAME: &str = "
insert into teamlog_meta (schema, min_reader, journal_id, min_copies)
values ($1, $1, gen_random_uuid(), $2) on conflict do nothing";

/// The version of the tables that are there.
pub const VERSION: &str = "select schema from teamlog_meta";

/// Says that the tables are those of this version, where they were older.
pub const MIGRATED: &str = "update teamlog_meta set schema = $1, min_reader = $1 where schema < $1";

/// What every connection lives by. A warning tells where a commit did not wait for its copies, so warnings have to come.
pub const SETTINGS: &str = "
set synchronous_commit = on; set client_min_messages = notice; set statement_timeout = 0; set lock_timeout = 0";

/// Which journal this is, and how durable what it takes.
pub const LOOK: &str = "
select m.schema, m.min_reader, m.journal_id::text, m.min_copies,
  current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('synchronous_standby_names'),
  (select count(*)::int from pg_stat_replication where state = 'streaming' and sync_state in ('sync', 'quorum')),
  case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end,
  current_setting('server_version'), (select system_identifier from pg_control_system())
from teamlog_meta m";

/// A commit of its own: once it returns, all that was read before is on as many servers as it is.
pub const BARRIER: &str = "
insert into teamlog_host (host, log, seen_at) values ($1, '00000000-0000-0000-0000-000000000000', clock_timestamp())
on conflict (host, log) do update set seen_at = excluded.seen_at";

/// Appends groups, in the order of their logs, so that two hosts never wait for each other. Gives those that were taken.
pub const APPEND: &str = "
insert into teamlog_group (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
select g.log::uuid, g.first_seq, g.last_seq, g.prev, g.chain, g.last_id::uuid, g.bytes, g.begins
from unnest($1::text[], $2::int8[], $3::int8[], $4::bytea[], $5::bytea[], $6::text[], $7::bytea[], $8::text[])
  as g (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
join teamlog_log l on l.log = g.log::uuid and l.state = $9
order by g.log, g.first_seq on conflict do nothing returning log::text, first_seq";

/// The same for one group, which a server answers sooner.
pub const APPEND_ONE: &str = "
insert into teamlog_group (log, first_seq, last_seq, prev, chain, last_id, bytes, begins)
select l.log, $2, $3, $4, $5, $6::text::uuid, $7, $8 from teamlog_log l
where l.log = $1::text::uuid and l.state = $9 on conflict do nothing returning log::text, first_seq";

/// The same, and the log comes from one state into another.
pub const TURN: &str = "
select $1::text, $2::int8 where teamlog_turn($1::text::uuid, $2::int8, $3, $4, $5, $6::text::uuid, $7, $8, $9, $10)";

/// Names the version by which hosts have to fold, where a lower one was named.
pub const RAISE_FOLD_VERSION: &str = "select teamlog_raise_fold_version($1::text::uuid, $2)";

/// Keeps the bytes of an artifact.
pub const PUT_BLOB: &str = "
insert into teamlog_artifact (log, digest, bytes) values ($1::text::uuid, $2, $3) on conflict do nothing";

/// Notes the digest of a host's state at an event.
pub const NOTE_STATE: &str = "
insert into teamlog_host (host, log, seq, state_digest, seen_at) values ($1, $2::text::uuid, $3, $4, clock_timestamp())
on conflict (host, log) do update set seq = excluded.seq, state_digest = excluded.state_digest, seen_at = excluded.seen_at";

/// The hosts whose state at the same event is another one.
pub const OTHER_STATES: &str = "
select host from teamlog_host where log = $1::text::uuid and seq = $2 and state_digest <> $3 order by host";

/// The bytes of an artifact.
pub const BLOB: &str =
    "select bytes from teamlog_artifact where log = $1::text::uuid and digest = $2";

/// What stands in a group's place, and whether its predecessor does.
pub const STANDS: &str = "
select l.state, g.chain,
  exists (select from teamlog_group p where p.log = l.log and p.next_seq = $2 and p.chain = $3)
from teamlog_log l left join teamlog_group g on g.log = l.log and g.first_seq = $2
where l.log = $1::text::uuid";

/// The row that a position names, and those behind it, up to some number and about as many bytes.
pub const READ: &str = "
select last_seq, chain, bytes, begins, (extract(epoch from clock_timestamp()) * 1000000)::int8,
  (select fold_version from teamlog_log where log = $1::text::uuid) from (
  select last_seq, chain, bytes, begins, sum(length(bytes)) over (order by next_seq) - length(bytes) as before from (
    select last_seq, next_seq, chain, begins, case when next_seq = $2 then '' else bytes end as bytes
    from teamlog_group where log = $1::text::uuid and next_seq >= $2 order by next_seq limit $4) page) sized
where before < $3 order by last_seq";

/// Where a log ends, and where what is kept of it begins.
pub const END: &str =
    "select max(last_seq), min(last_seq) from teamlog_group where log = $1::text::uuid";

/// Removes what stands before an event, up to the end of a group, which becomes the row from which the log begins; a thousand groups at
/// most. Gives how many groups and bytes went.
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

/// The hosts that noted that they have a log up to an event.
pub const HOLDERS: &str =
    "select host from teamlog_host where log = $1::text::uuid and seq >= $2 order by host";

/// Makes a log known.
pub const ENROLL: &str = "select teamlog_enroll($1::text::uuid, $2, $3, $4, $5)";

/// The log of a team, and its state.
pub const FIND: &str = "select identity, state from teamlog_log where team = $1";

/// What a log holds.
pub const STATUS: &str = "
select l.state, coalesce(max(g.last_seq), 0), count(g.last_seq) filter (where not g.base),
  coalesce(sum(length(g.bytes)), 0)::int8
from teamlog_log l left join teamlog_group g on g.log = l.log where l.log = $1::text::uuid group by l.state";

/// When each host was last seen.
pub const HOSTS: &str = "
select host, extract(epoch from clock_timestamp() - max(seen_at))::float8 from teamlog_host group by host order by host";
