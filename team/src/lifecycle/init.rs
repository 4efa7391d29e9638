//! `init`: creates a team, or adds members to an existing team.

use crate::handle::staged::StagedTeam;
use crate::operation::prelude::*;
use crate::projections::team::event::TeamCreated;
use teamlog_engine::{Format, JournalIdentity, NewLog};

/// Options of `init`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Init {
    /// The team's name.
    pub team: String,
    /// First members of a new team, or further members of an existing team.
    pub members: Vec<String>,
    /// Storage format of events. `None` means `jsonl` for a new team and any format for an existing
    /// team.
    pub format: Option<Format>,
    /// True to let agents join by acting. A team without members is open in any case.
    pub open: bool,
    /// True to keep no view files.
    pub no_views: bool,
    /// True to accept a file system on a network, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
    /// Journal of a new team with several hosts; `None` for a team on this host alone.
    #[serde(default)]
    pub journal: Option<JournalIdentity>,
    /// Actor of the events; `teamlog` if absent.
    pub actor: Option<String>,
    /// The agent that runs `init`, if an agent runs it. The agent becomes a member and the leader of a new team.
    #[serde(default)]
    pub agent: Option<String>,
}

/// The answer `{status:"ok", team, members}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// All members, sorted.
    pub members: Vec<String>,
    /// True if the team is new.
    #[serde(skip)]
    pub created: bool,
    /// Members that this call added.
    #[serde(skip)]
    pub added: Vec<String>,
}

impl Init {
    /// Returns options for `init` with nothing but the team's name.
    pub fn for_team(team: impl Into<String>) -> Init {
        Init {
            team: team.into(),
            ..Init::default()
        }
    }
}

/// Refuses the old name of a renamed agent. The mail to that name belongs to the agent with the new name.
fn check_not_renamed(live: &Live, member: &str) -> Result<(), Failure> {
    let current = membership::recipient(live, member)?;
    if current == member {
        return Ok(());
    }
    let message = format!(
        "members: {member:?} is the old name of {current:?}, which gets the mail to both names"
    );
    let refusal = Refusal::new(Code::InvalidInput, message).field("members");
    Err(refusal.hint("choose another name for the new agent").into())
}

impl Root {
    /// Creates a team, or adds members to an existing team. A repeated call is harmless.
    ///
    /// # Errors
    /// `invalid_input`, `format_mismatch`, `unsafe_file_system`, `team_exists`; I/O.
    pub fn init(&self, mut init: Init) -> Result<InitAnswer> {
        names::check_new("team", &init.team)?;
        for member in &init.members {
            names::check_new("members", member)?;
        }
        names::check_free_given([("actor", &init.actor)])?;
        init.members.sort();
        init.members.dedup();
        init.agent = init.agent.take().filter(|agent| can_lead(agent));
        if let Some(team) = self.find(&init.team)? {
            let answer = join(team, init)?;
            // Teams of older versions have no ignore files yet. If the files cannot be written, the
            // command still succeeds.
            let _ = self.write_ignore_files(&answer.team);
            return Ok(answer);
        }
        let (format, anywhere) = (init.format.unwrap_or_default(), init.allow_network_fs);
        let new = NewLog {
            name: init.team.clone(),
            format,
            origin: "init".into(),
        };
        let log = |storage, dir: &Path, options| match init.journal.clone() {
            None => Log::create(storage, dir, new, options),
            Some(journal) => Log::create_shared(storage, dir, new, journal, options),
        };
        let (staged, mut team) = StagedTeam::begin_with(self, &init.team, anywhere, log)?;
        create(&mut team, &init)?;
        team.mend_views()?;
        drop(team);
        match staged.settle()? {
            true => Ok(created(init)),
            false => join(self.team(&init.team)?, init),
        }
    }
}

/// Returns true if an agent of this name can be the leader of a team.
fn can_lead(agent: &str) -> bool {
    agent != LEADER && agent != DEFAULT_ACTOR && names::check_new("actor", agent).is_ok()
}

/// Returns the members of a new team, with its leader, sorted.
fn first_members(init: &Init) -> Vec<String> {
    let members = init.members.iter().chain(&init.agent);
    let members: BTreeSet<&String> = members.collect();
    members.into_iter().cloned().collect()
}

fn created(init: Init) -> InitAnswer {
    let members = first_members(&init);
    InitAnswer {
        status: "ok".into(),
        team: init.team,
        added: members.clone(),
        members,
        created: true,
    }
}

/// Runs `init` on an existing team.
fn join(mut team: Team, init: Init) -> Result<InitAnswer> {
    team.check_format(init.format)?;
    check_journal(&team, init.journal.as_ref())?;
    let name = init.team.clone();
    // The log exists in a journal, but its creator died before the first event.
    if team.query(|live, _| Ok(live.team()?.is_none()))? {
        create(&mut team, &init)?;
        return Ok(created(init));
    }
    let (members, added) = team
        .execute_unkeyed(act(CommandTerms::new(Authority::Anyone), move |_, live| {
            joining(live, &init)
        }))?;
    Ok(InitAnswer {
        status: "ok".into(),
        team: name,
        members,
        created: false,
        added,
    })
}

/// Refuses to add, remove or replace the journal of an existing team.
fn check_journal(team: &Team, asked: Option<&JournalIdentity>) -> Result<()> {
    let id = |journal: &JournalIdentity| journal.id.clone();
    let there = team.log().identity().journal.as_ref().map(id);
    let asked = asked.map(id);
    let Some(asked) = asked.filter(|asked| there.as_ref() != Some(asked)) else {
        return Ok(());
    };
    let has = there.map_or("no journal".to_owned(), |there| format!("journal {there}"));
    let message = format!("the team exists already with {has}, so it cannot get journal {asked}");
    Err(Refusal::new(Code::TeamExists, message)
        .field("journal")
        .into())
}

/// Records the first event of a team.
fn create(team: &mut Team, init: &Init) -> Result<()> {
    let created = TeamCreated {
        members: first_members(init),
        open: init.open || init.members.is_empty(),
        views: !init.no_views,
        leader: init.agent.clone(),
    };
    let created = created.event(actor(init), None);
    team.execute_unkeyed(act(CommandTerms::new(Authority::Anyone), move |_, _| {
        Ok(((), vec![created.clone()]))
    }))
}

/// Returns all members after the call, and the new members among them.
fn joining(live: &Live, init: &Init) -> Acted<(Vec<String>, Vec<String>)> {
    if let Some(agent) = init.agent.as_ref().filter(|_| !init.members.is_empty()) {
        membership::check_active(live, "actor", agent)?;
        membership::check_acting(live, agent)?;
    }
    let mut added = Vec::new();
    for member in &init.members {
        if !live.is_member(member)? {
            check_not_renamed(live, member)?;
            added.push(member.clone());
        }
    }
    let mut members = live.members()?;
    members.extend_from_slice(&added);
    members.sort();
    let mut events = Vec::new();
    if !added.is_empty() {
        let members = added.clone();
        events.push(TeamFact::MembersAdded(MembersAdded { members }).event(actor(init)));
    }
    Ok(((members, added), events))
}

fn actor(init: &Init) -> &str {
    init.actor.as_deref().unwrap_or(DEFAULT_ACTOR)
}
