//! Checks of launch evidence. The evidence must be complete, have the right form, and agree with the log.

use super::*;
use crate::projections::bootstrap::CoreReadyAck;

/// Required fields of the evidence.
pub const FIELDS: [&str; 6] = [
    "launch_mode",
    "launch_method",
    "team_name",
    "selected_domains",
    "active_core_members",
    "core_ready_ack",
];

/// Returns the evidence if it is valid. Otherwise refuses with the first wrong field, and with all faults in the details.
pub fn checked(run: &Run, given: Option<&Map<String, Value>>) -> Result<Evidence, Refusal> {
    let Some(given) = given else {
        let rule = "is required to enter RUNNING";
        return Err(broken(Code::EvidenceInvalid, "evidence", rule));
    };
    let mut faults = Vec::new();
    for name in given.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
        let near = spelling::nearest(name, FIELDS).map_or("", |near| near.0);
        let why = format!("is not a field of the evidence; did you mean {near}?");
        faults.push((name.clone(), why));
    }
    let logged = Evidence::from_run(run);
    let logged = logged.as_ref();
    check(given, "launch_mode", LAUNCH_MODE, &mut faults);
    method(given, logged, &mut faults);
    let team = logged.map_or("", |logged| &logged.team_name);
    check(given, "team_name", team, &mut faults);
    let domains = logged
        .map(|logged| logged.selected_domains.as_slice())
        .unwrap_or_default();
    names(given, "selected_domains", domains, &mut faults);
    let core = Core::ALL.map(|core| core.name().to_owned());
    names(given, "active_core_members", &core, &mut faults);
    acks(given, &mut faults);
    match (faults.first(), logged) {
        (None, Some(logged)) => Ok(Evidence {
            core_ready_ack: CoreReadyAck {
                obstruction: true,
                synthesizer: true,
            },
            ..logged.clone()
        }),
        (first, _) => {
            let (field, why) = first.cloned().unwrap_or_default();
            let all = faults.iter().map(|(field, why)| format!("{field} {why}"));
            let all = Value::from_iter(all);
            let refusal = Refusal::new(Code::EvidenceInvalid, format!("evidence.{field} {why}"));
            Err(refusal
                .field(format!("evidence.{field}"))
                .detail("faults", all))
        }
    }
}

type Faults = Vec<(String, String)>;

fn fault(faults: &mut Faults, field: &str, value: Option<&Value>, rule: &str) {
    let why = match value {
        None | Some(Value::Null) => format!("{rule}, but is missing"),
        Some(value) => format!("{rule}, but is {}", shown(&as_text(value))),
    };
    faults.push((field.to_owned(), why));
}

fn check(given: &Map<String, Value>, field: &str, wanted: &str, faults: &mut Faults) {
    let value = given.get(field);
    if value.and_then(Value::as_str) != Some(wanted) {
        fault(faults, field, value, &format!("must be {}", shown(wanted)));
    }
}

fn method(given: &Map<String, Value>, logged: Option<&Evidence>, faults: &mut Faults) {
    let value = given.get("launch_method");
    let wanted = logged.map_or("", |logged| &logged.launch_method);
    let rule = match value.and_then(Value::as_str).and_then(Method::from_name) {
        None => Method::rule(),
        Some(method) if method.name() == wanted => return,
        Some(_) => format!("must be {}, as the launch was recorded", shown(wanted)),
    };
    fault(faults, "launch_method", value, &rule);
}

/// Checks that a field contains exactly the wanted names, in any order and without duplicates.
fn names(given: &Map<String, Value>, field: &'static str, wanted: &[String], faults: &mut Faults) {
    let value = given.get(field);
    let array = value.filter(|value| value.is_array());
    let names = array.and_then(|array| names_in(field, array).ok());
    let same = names.is_some_and(|names| {
        let set: BTreeSet<&String> = names.iter().collect();
        set.len() == names.len() && set == wanted.iter().collect()
    });
    if !same {
        let rule = format!("must be {}", Value::from(wanted.to_vec()));
        fault(faults, field, value, &rule);
    }
}

fn acks(given: &Map<String, Value>, faults: &mut Faults) {
    let field = "core_ready_ack";
    let Some(Value::Object(acks)) = given.get(field) else {
        let rule = "must be an object with both signals";
        return fault(faults, field, given.get(field), rule);
    };
    let signals = Core::ALL.map(Core::ready_signal);
    for signal in signals {
        let ack = acks.get(signal);
        if ack != Some(&Value::Bool(true)) {
            fault(faults, &format!("{field}.{signal}"), ack, "must be true");
        }
    }
    if let Some(other) = acks.keys().find(|name| !signals.contains(&name.as_str())) {
        let why = "is not a signal of a core member".to_owned();
        faults.push((format!("{field}.{other}"), why));
    }
}
