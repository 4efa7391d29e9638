//! Imports for files about tasks.

pub(crate) use crate::claim::holding::{self, ClaimCheck, TaskDecision, check_expected, lease_end};
pub(crate) use crate::claim::proof::claim_proof;
pub(crate) use crate::operation::prelude::*;
pub(crate) use crate::projections::task::Claim;
pub(crate) use crate::projections::task::event::{ClaimRef, Lease, TaskAct, TaskFact};
pub(crate) use crate::task::blocking;
pub(crate) use crate::task::create::{TaskAnswer, record};
pub(crate) use crate::task::listed::Listed;
pub(crate) use crate::task::record::TaskRecord;
