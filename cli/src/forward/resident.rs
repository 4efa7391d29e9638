//! The daemon's side: what it is asked runs as the same code, on the teams that are open here.

use super::{Ended, NamedCall, Reply, Request, Wanted, place};
use crate::call::{self, Site};
use crate::exit;
use serde_json::value::RawValue;
use std::io;
use std::path::Path;
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_server::forward::{Caller, Forward};
use teamlog_team::{Notes, RootOptions};

/// Carries out what the daemon of one data root is asked.
#[derive(Debug)]
pub struct Resident {
    root: (u64, u64),
}

impl Resident {
    /// For the daemon of the data root in this directory.
    pub fn new(root: &Path) -> io::Result<Resident> {
        Ok(Resident { root: place(root)? })
    }
}

impl Forward for Resident {
    fn answer(&self, served: &Arc<Served>, request: &[u8], caller: &Arc<Caller>) -> io::Result<()> {
        let Request { root, team, wanted } = serde_json::from_slice(request)?;
        if root != self.root || !served.serves(&team) {
            return send(caller, &Reply::Elsewhere);
        }
        match wanted {
            Wanted::GiveWay => give_way(served, &team, caller),
            Wanted::Call(call) => {
                let mut site = site(served, &team, &call, caller);
                let ended = carry_out(&mut site, &call);
                send(caller, &Reply::Ended(ended))?;
                if let Some(mut team) = site.opened {
                    // What fails behind an answer costs time later, and loses nothing.
                    let _ = team.finish();
                }
                Ok(())
            }
        }
    }
}

fn send(caller: &Caller, reply: &Reply) -> io::Result<()> {
    caller.send(&serde_json::to_vec(reply)?)
}

fn site<'a>(
    served: &Served,
    team: &'a str,
    call: &'a NamedCall,
    caller: &'a Arc<Caller>,
) -> Site<'a> {
    let options = RootOptions {
        lock_deadline: call.lock_deadline,
        notes: Notes::default(),
        ..served.root().options().clone()
    };
    Site {
        root: served.root().with_options(options),
        team,
        who: &call.who,
        caller: Some(caller),
        opened: None,
    }
}

fn carry_out(site: &mut Site<'_>, call: &NamedCall) -> Ended<Box<RawValue>> {
    let outcome = exit::caught(|| call::carry_out(site, &call.name, &call.input)).flatten();
    let wanted = call.receipt && outcome.is_ok();
    let receipt = wanted.then(|| call::receipt(&site.root, site.team));
    let (receipt, without) = match receipt.transpose() {
        Ok(receipt) => (receipt, None),
        Err(note) => (None, Some(note)),
    };
    let mut notes = site.root.options().notes.take();
    notes.extend(without);
    Ended {
        outcome,
        replayed: site.replayed(),
        receipt,
        notes,
    }
}

/// Keeps off the team until the caller hangs up. What it changed meanwhile is read anew by whoever needs the team next.
fn give_way(served: &Served, team: &str, caller: &Caller) -> io::Result<()> {
    match served.root().give_way(team) {
        Ok(pause) => {
            send(caller, &Reply::GaveWay)?;
            caller.wait_for_end();
            drop(pause);
            Ok(())
        }
        Err(failure) => send(
            caller,
            &Reply::Ended(Ended {
                outcome: Err(failure.into()),
                replayed: false,
                receipt: None,
                notes: Vec::new(),
            }),
        ),
    }
}
