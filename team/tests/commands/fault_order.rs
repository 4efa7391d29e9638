//! Tests of the order of faults in every operation: first the shape of the input, then the team, then the rules.

use crate::prelude::*;
use crate::scenario::{mistyped, scenario};
use teamlog_team::api::shape::Kind;
use teamlog_team::api::{self, Fault};

fn call(world: &World, name: &str, input: &Map<String, Value>) -> Result<(), Fault> {
    let operation = api::find(name).unwrap();
    api::call(&world.root, operation, input.clone(), Control::default()).map(drop)
}

#[test]
fn the_shape_of_an_input_comes_first_and_then_the_team() {
    let world = World::new();
    let mut missing_teams = 0;
    for (name, input) in scenario() {
        let operation = api::find(name).unwrap();
        let shape = operation.shape();
        let code =
            |input: &Map<String, Value>| call(&world, name, input).map_err(|fault| fault.code);
        let mut unknown = input.clone();
        unknown.insert("no_such_field".to_owned(), json!(1));
        if !shape.open {
            assert_eq!(code(&unknown), Err("invalid_input".into()), "{name}");
        }
        let last = shape
            .required()
            .filter(|field| *field != "team_name")
            .last();
        if let Some(last) = last {
            let mut missing = input.clone();
            missing.remove(last);
            assert_eq!(
                code(&missing),
                Err("invalid_input".into()),
                "{name} without {last}"
            );
        }
        // Leaves out fields of a fixed choice, such as a mode: a rule checks such fields, with its
        // own code.
        let own = shape
            .fields
            .iter()
            .filter(|field| field.name != "team_name" && !matches!(field.kind, Kind::Choice(_)));
        let wrong = own.map(|field| (field, mistyped(field)));
        if let Some((field, values)) = wrong.into_iter().find(|(_, values)| !values.is_empty()) {
            let mut other = input.clone();
            other.insert(field.name.clone(), values[0].clone());
            let fault = code(&other).unwrap_err();
            assert_ne!(fault, "team_not_found", "{name} with {}", field.name);
        }
        // Some operations return an empty answer if the team does not exist.
        if let Err(fault) = code(&input) {
            // The contract prescribes `task_not_found` for `read-task` and `manifest_not_found` for `read-manifest`.
            assert!(fault.ends_with("_not_found"), "{name}: {fault}");
            missing_teams += usize::from(fault == "team_not_found");
        }
    }
    assert!(missing_teams > 50, "{missing_teams}");
}
