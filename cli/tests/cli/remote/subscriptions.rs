//! Durable subscriptions from another machine, with the token of an agent.

use super::*;

/// Calls an operation on the subscription `w`. Returns the answer's data, or the code of the refusal.
fn call(machine: &Machine, agent: &str, name: &str, mut input: Value) -> Result<Value, String> {
    input["team_name"] = "demo".into();
    input["name"] = "w".into();
    let ran = machine.run(agent, &format!("api {name} --input '{input}' --json"));
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    match answer["ok"] == true {
        true => Ok(answer["data"].clone()),
        false => Err(answer["error"]["code"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn an_agent_consumes_its_subscription_and_no_other_agent_can() {
    let machine = Machine::new();
    let fetch = |agent: &str, epoch: Option<u64>| {
        let mut input = json!({"timeout_ms": 0});
        if let Some(epoch) = epoch {
            input["epoch"] = epoch.into();
        }
        call(&machine, agent, "fetch-subscription", input)
    };
    let line = "subscribe demo w --kind built --from start --once --json";
    assert_eq!(machine.ok("dev", line), "");
    let built = || -> u64 {
        let answer = machine.ok("dev", "append demo --kind built --json");
        parse::<Value>(&answer)["seq"].as_u64().unwrap()
    };
    let first = built();
    let answer = fetch("dev", None).unwrap();
    let epoch = answer["epoch"].as_u64().unwrap();
    assert_eq!(answer["consumer"], "dev");
    assert_eq!(answer["events"][0]["event"]["seq"], first);
    let ack = json!({"epoch": epoch, "seqs": [first]});
    // Another agent can neither take nor settle; an agent that only reads has no right at all.
    assert_eq!(fetch("lead", None).unwrap_err(), "actor_mismatch");
    let settled = call(&machine, "lead", "ack-subscription", ack.clone());
    assert_eq!(settled.unwrap_err(), "actor_mismatch");
    let released = json!({"epoch": epoch});
    let refused = call(&machine, "lead", "release-subscription", released.clone());
    assert_eq!(refused.unwrap_err(), "actor_mismatch");
    let refused = machine.run("qa", "subscribe demo w --once");
    assert_ne!(refused.code, Some(0), "{refused:?}");
    let settled = call(&machine, "dev", "ack-subscription", ack.clone()).unwrap();
    assert_eq!(settled["position"], first);

    // A second process of the agent takes over, and the first one is fenced.
    call(&machine, "dev", "release-subscription", released).unwrap();
    let second = built();
    let next = fetch("dev", None).unwrap();
    assert_eq!(next["epoch"], epoch + 1);
    assert_eq!(
        fetch("dev", Some(epoch)).unwrap_err(),
        "subscription_fenced"
    );
    let late = json!({"epoch": epoch, "seqs": [second]});
    let refused = call(&machine, "dev", "ack-subscription", late);
    assert_eq!(refused.unwrap_err(), "subscription_fenced");
    let end = json!({"epoch": epoch + 1});
    call(&machine, "dev", "release-subscription", end).unwrap();

    // The command on the other machine runs programs there.
    let script = "echo $TEAMLOG_EVENT_SEQ >> handled";
    let line = format!("subscribe demo w --kind built --once --exec sh -- -c '{script}'");
    machine.ok("dev", &line);
    let handled = std::fs::read_to_string(machine.elsewhere.dir().join("handled")).unwrap();
    assert_eq!(handled, format!("{second}\n"));
    let listed = machine.ok("lead", "subscription list demo --json");
    assert_eq!(parse::<Value>(&listed)["subscriptions"][0]["owner"], "dev");
}
