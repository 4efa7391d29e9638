//! Tests of agent tokens, and of the commands that an authenticated agent may run.

use crate::hostile::each;
use crate::prelude::*;
use teamlog_team::BackupDir;
use teamlog_team::agent_token::{TokenAdd, TokenList, TokenRevoke};
use teamlog_team::api::Effect;
use teamlog_team::backup::restore::Restore;
use teamlog_team::handle::root::Authenticated;
use teamlog_team::import::events::ImportEvents;
use teamlog_team::projections::agent_token::event::AgentScope;

fn digest(token: &str) -> blake3::Hash {
    blake3::hash(token.as_bytes())
}

fn add(agent: &str, token: &str) -> TokenAdd {
    given!(TokenAdd, agent, digest: digest(token).to_hex().to_string())
}

/// Returns the root for the authenticated agent.
pub fn as_agent(world: &World, agent: &str) -> Root {
    let options = RootOptions {
        authenticated: Some(Authenticated {
            team: "demo".to_owned(),
            agent: agent.to_owned(),
        }),
        ..world.root.options().clone()
    };
    world.root.with_options(options)
}

#[test]
fn a_token_lets_its_agent_in_until_it_is_revoked() {
    let (_world, mut team) = demo();
    let added = team.token_add(add("dev", "secret")).unwrap().token;
    assert_eq!((&*added.agent, added.scope), ("dev", AgentScope::Act));
    assert_eq!(added.token_id, digest("secret").to_hex().as_str()[..16]);
    assert_eq!(
        team.token_holder(&digest("secret")).unwrap(),
        Some(added.clone())
    );
    assert_eq!(team.token_holder(&digest("Secret")).unwrap(), None);
    let exists = team.token_add(add("qa", "secret"));
    assert_eq!(
        refused(exists, Code::TokenExists).details["token_id"],
        added.token_id
    );
    let second = TokenAdd {
        scope: Some("operate".to_owned()),
        ..add("dev", "another")
    };
    team.token_add(second).unwrap();
    let revoke = given!(TokenRevoke, token_id: added.token_id.clone());
    let revoked = team.token_revoke(revoke.clone()).unwrap().token;
    assert!(revoked.revoked_at.is_some());
    let before = events(&mut team).len();
    assert_eq!(team.token_revoke(revoke).unwrap().token, revoked);
    assert_eq!(events(&mut team).len(), before);
    assert_eq!(team.token_holder(&digest("secret")).unwrap(), None);
    let other = team.token_holder(&digest("another")).unwrap().unwrap();
    assert_eq!(other.scope, AgentScope::Operate);
    let listed = team.token_list(TokenList::default()).unwrap().tokens;
    assert_eq!(listed, [revoked, other]);
    settled_digest(&mut team);
}

#[test]
fn what_is_no_digest_or_scope_or_agent_is_refused() {
    let (_world, mut team) = demo();
    for (input, code) in [
        (add("nobody", "x"), Code::WorkerNotFound),
        (
            given!(TokenAdd, agent: "dev", digest: "secret"),
            Code::InvalidInput,
        ),
        (
            given!(TokenAdd, agent: "dev", digest: "A".repeat(64)),
            Code::InvalidInput,
        ),
        (
            TokenAdd {
                scope: Some("all".to_owned()),
                ..add("dev", "x")
            },
            Code::InvalidInput,
        ),
    ] {
        refused(team.token_add(input), code);
    }
    let revoke = |id: &str| given!(TokenRevoke, token_id: id);
    refused(team.token_revoke(revoke("nothing")), Code::TokenNotFound);
    refused(
        team.token_revoke(revoke(&"0".repeat(16))),
        Code::TokenNotFound,
    );
    assert_eq!(kinds(&mut team), ["team_created"]);
}

#[test]
fn a_token_can_be_revoked_in_a_team_that_was_closed() {
    let (_world, mut team) = demo();
    let added = team.token_add(add("dev", "secret")).unwrap().token;
    team.orphan_cleanup(OrphanCleanup::default()).unwrap();
    refused(team.token_add(add("dev", "late")), Code::TeamClosed);
    team.token_revoke(given!(TokenRevoke, token_id: added.token_id))
        .unwrap();
    assert_eq!(team.token_holder(&digest("secret")).unwrap(), None);
}

/// Returns true if events of this kind have no actor, because they only result from other events or
/// from time.
fn follows(kind: &str) -> bool {
    ["task_blocked", "task_unblocked", "task_lease_expired"].contains(&kind)
        || ["dispatch", "delivery", "budget_soft"]
            .iter()
            .any(|begin| kind.starts_with(begin))
}

#[test]
fn whatever_an_agent_does_is_recorded_as_its_own_or_refused() {
    let agents = ["dev", "leader-fixed"];
    let mut own = [0; 2];
    each(|operation, world, input| {
        if operation.effect != Effect::Records {
            return;
        }
        let name = operation.name;
        for (agent, own) in agents.into_iter().zip(&mut own) {
            let world = world.copy();
            let before = events(&mut world.root.team("demo").unwrap()).len();
            let root = as_agent(&world, agent);
            let called = api::call(&root, operation, input.clone(), Control::default());
            let new = events(&mut world.root.team("demo").unwrap()).split_off(before);
            if let Err(fault) = called {
                let precise = fault.details.get("code").cloned().unwrap_or_default();
                let code = precise.as_str().unwrap_or(&fault.code);
                let known = [
                    "actor_mismatch",
                    "not_holder",
                    "claim_conflict",
                    "leader_required",
                ];
                assert!(known.contains(&code), "{agent} {name}: {fault:?}");
                assert!(new.is_empty(), "{agent} {name}: {new:?}");
                continue;
            }
            for event in new {
                let kind = event["kind"].as_str().unwrap();
                assert!(
                    event["actor"] == agent || follows(kind),
                    "{agent} {name} {input:?}: {event}"
                );
                *own += usize::from(event["actor"] == agent);
            }
        }
    });
    assert!(own.iter().all(|own| *own > 5), "{own:?}");
}

#[test]
fn an_agent_names_no_other_as_who_sends_acknowledges_or_was_refused() {
    let (world, mut team) = demo();
    let sent = team.send(message("lead", "dev")).unwrap().message.id;
    let root = as_agent(&world, "qa");
    let mut qa = root.team("demo").unwrap();
    for actor in [None, Some("qa"), Some("dev")] {
        qa.under(Control {
            actor: actor.map(str::to_owned),
            ..Control::default()
        });
        refused(qa.send(message("dev", "lead")), Code::ActorMismatch);
        let ack = given!(Ack, agent: "dev", message_id: sent.clone());
        refused(qa.ack(ack), Code::ActorMismatch);
        let sent = qa.send(message("qa", "lead"));
        match actor {
            Some("dev") => drop(refused(sent, Code::ActorMismatch)),
            _ => assert_eq!(sent.unwrap().event.event.actor, "qa"),
        }
    }
    qa.under(Control::default());
    let fact = |actor: Option<&str>| Append {
        kind: "deploy_done".to_owned(),
        actor: actor.map(str::to_owned),
        ..Append::default()
    };
    qa.append(fact(None)).unwrap();
    assert_eq!(events(&mut qa).last().unwrap()["actor"], "qa");
    refused(qa.append(fact(Some("dev"))), Code::ActorMismatch);
    qa.under(given!(Control, actor: "dev"));
    refused(qa.tick(Tick::default()), Code::ActorMismatch);
    qa.under(Control::default());
    qa.tick(Tick::default()).unwrap();
}

#[test]
fn a_claim_is_repeated_under_its_key_for_its_holder_alone() {
    let (world, mut team) = demo();
    team.task_create(given!(TaskCreate, subject: "one", description: "d"))
        .unwrap();
    let claim = |agent: &str, worker: &str| {
        let input = json!({"team_name": "demo", "task_id": "1", "worker": worker, "key": "k"});
        let Value::Object(input) = input else {
            unreachable!()
        };
        let operation = api::find("claim-task").unwrap();
        api::call(
            &as_agent(&world, agent),
            operation,
            input,
            Control::default(),
        )
    };
    claim("dev", "dev").unwrap();
    claim("dev", "dev").unwrap();
    for (agent, worker) in [("qa", "dev"), ("qa", "qa")] {
        let fault = claim(agent, worker).unwrap_err();
        let told = format!("{fault:?}");
        assert!(!told.contains("claimToken"), "{told}");
    }
}

#[test]
fn an_agent_reaches_no_other_team_and_makes_none() {
    let (world, _team) = demo();
    world.root.init(Init::for_team("other")).unwrap();
    let root = as_agent(&world, "dev");
    for name in ["other", "nothing"] {
        let refusal = refused(root.team(name), Code::TeamNotFound);
        assert!(!refusal.message.contains("did you mean"), "{refusal}");
        refused(root.init(Init::for_team(name)), Code::TeamNotFound);
    }
    assert_eq!(world.names_in_teams(), ["demo", "other"]);
}

/// Checks each of `tokens` in the team `demo`. Returns true for a valid token.
fn let_in(root: &Root, tokens: &[&str]) -> Vec<bool> {
    let mut team = root.team("demo").unwrap();
    let holders = tokens
        .iter()
        .map(|token| team.token_holder(&digest(token)).unwrap());
    holders.map(|holder| holder.is_some()).collect()
}

#[test]
fn an_imported_log_lets_nobody_in_until_its_tokens_are_accepted() {
    let (from, mut team) = demo();
    team.token_add(add("dev", "one")).unwrap();
    team.token_add(add("qa", "two")).unwrap();
    let mut exported = Vec::new();
    team.export(&mut |line| {
        exported.extend_from_slice(line);
        exported.push(b'\n');
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(let_in(&from.root, &["one", "two"]), [true, true]);

    let world = World::new();
    let import = given!(ImportEvents, team: "demo");
    let answer = world
        .root
        .import_events(import, &mut &exported[..])
        .unwrap();
    assert_eq!(answer.unaccepted_tokens.len(), 2);
    assert_eq!(let_in(&world.root, &["one", "two"]), [false, false]);
    let mut team = world.root.team("demo").unwrap();
    let listed = team.token_list(TokenList::default()).unwrap().tokens;
    assert!(listed.iter().all(|token| token.unaccepted));
    let before = events(&mut team).len();
    let accepted = world
        .root
        .accept_tokens("demo", &[listed[0].token_id.clone()])
        .unwrap();
    assert_eq!(accepted[0].agent, "dev");
    assert_eq!(let_in(&world.root, &["one", "two"]), [true, false]);
    // Accepting a token records no event.
    assert_eq!(events(&mut team).len(), before);
    let unknown = world.root.accept_tokens("demo", &["0".repeat(16)]);
    refused(unknown, Code::TokenNotFound);

    let kept = World::new();
    let import = given!(ImportEvents, team: "demo", keep_tokens: true);
    let answer = kept.root.import_events(import, &mut &exported[..]).unwrap();
    assert!(answer.unaccepted_tokens.is_empty());
    assert_eq!(let_in(&kept.root, &["one", "two"]), [true, true]);
}

#[test]
fn a_restored_backup_brings_no_token_back_that_was_revoked_after_it() {
    let (world, mut team) = demo();
    let added = team.token_add(add("dev", "one")).unwrap().token;
    team.token_add(add("qa", "two")).unwrap();
    let backups = BackupDir::on(Arc::new(Memory::new()), RootOptions::default());
    team.backup(&backups).unwrap();
    team.token_revoke(given!(TokenRevoke, token_id: added.token_id))
        .unwrap();
    drop(team);
    for (keep_tokens, unaccepted, lets_in) in [(false, 2, [false, false]), (true, 1, [false, true])]
    {
        world
            .memory
            .remove_dir_all(Path::new("teams/demo"))
            .unwrap();
        let restore = given!(Restore, team: "demo", keep_tokens);
        let answer = world.root.restore(restore, &backups).unwrap();
        assert_eq!(answer.unaccepted_tokens.len(), unaccepted);
        assert_eq!(let_in(&world.root, &["one", "two"]), lets_in);
    }
}

#[test]
fn a_root_of_an_older_release_adopts_its_tokens_once() {
    let (world, mut team) = demo();
    team.token_add(add("dev", "one")).unwrap();
    let file = Path::new("teams/.accepted-tokens");
    world.memory.remove_file(file).unwrap();
    assert_eq!(let_in(&world.root, &["one"]), [true]);
    // The token file now exists, and decides which tokens are valid.
    world.memory.replace(file, b"{}", false).unwrap();
    assert_eq!(let_in(&world.root, &["one"]), [false]);
    // With a damaged token file no token is valid, and the answer contains the error.
    world.memory.replace(file, b"{", false).unwrap();
    let mut team = world.root.team("demo").unwrap();
    refused(team.token_holder(&digest("one")), Code::InvalidInput);
}
