//! The OpenAPI document is consistent and agrees with the routes.

use super::world::World;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamlog_server::openapi;
use teamlog_server::route::ROUTES;
use teamlog_team::api::OPERATIONS;

fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (path.clone(), method.clone(), operation))
    });
    operations.collect()
}

fn each<'a>(value: &'a Value, see: &mut dyn FnMut(&'a serde_json::Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            see(fields);
            fields.values().for_each(|field| each(field, see));
        }
        Value::Array(items) => items.iter().for_each(|item| each(item, see)),
        _ => {}
    }
}

#[test]
fn it_is_served_as_it_is_put_together() {
    let served = World::new().get("/v1/openapi.json").done(200);
    assert_eq!(served, openapi::document());
    assert_eq!(served["openapi"], "3.1.0");
}

#[test]
fn every_route_and_every_operation_is_documented() {
    let document = openapi::document();
    let documented: BTreeSet<(String, String)> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| (path, method))
        .collect();
    for route in ROUTES.iter() {
        if route.id == "callOperation" {
            continue;
        }
        let method = route.method.name().to_lowercase();
        let key = (route.pattern.to_owned(), method);
        assert!(documented.contains(&key), "{key:?}");
        let operation = &document["paths"][&key.0][&key.1];
        for code in route.codes {
            let said = operation["responses"].as_object().unwrap().values();
            let mut said = said.filter_map(|response| response["description"].as_str());
            assert!(
                said.any(|text| text.contains(&format!("`{code}`"))),
                "{key:?} {code}"
            );
        }
    }
    for operation in OPERATIONS {
        let key = (format!("/v1/api/{}", operation.name), "post".to_owned());
        assert!(documented.contains(&key), "{key:?}");
    }
}

#[test]
fn nothing_is_null_by_default_that_may_not_be_null() {
    let document = openapi::document();
    let mut faults = Vec::new();
    each(&document, &mut |fields| {
        let allows_null = match &fields.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
            Some(_) => false,
            None => fields.contains_key("anyOf"),
        };
        if fields.get("default") == Some(&Value::Null) && !allows_null {
            faults.push(fields.clone());
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

/// `openapi-python-client` refuses a document with one of these.
#[test]
fn generators_of_clients_accept_it() {
    let document = openapi::document();
    let (mut faults, mut titles) = (Vec::new(), BTreeSet::new());
    each(&document, &mut |fields| {
        if fields.get("items").is_some_and(Value::is_boolean) {
            faults.push(format!("the schema of items is a boolean: {fields:?}"));
        }
        if let Some(Value::Object(properties)) = fields.get("properties") {
            let booleans = properties.iter().filter(|(_, schema)| schema.is_boolean());
            faults.extend(booleans.map(|(name, _)| format!("the schema of {name} is a boolean")));
        }
        let values = fields.get("enum").and_then(Value::as_array);
        if values.is_some_and(|values| values.iter().any(Value::is_boolean)) {
            faults.push(format!("a boolean is one of several values: {fields:?}"));
        }
        if let Some(Value::String(title)) = fields.get("title")
            && !titles.insert(title)
        {
            faults.push(format!("two schemas have the title {title}"));
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn it_follows_the_rules_of_its_version() {
    let document = openapi::document();
    let known: BTreeSet<&str> = [
        "openapi",
        "info",
        "servers",
        "security",
        "paths",
        "components",
    ]
    .into();
    assert!(
        document
            .as_object()
            .unwrap()
            .keys()
            .all(|key| known.contains(key.as_str()))
    );
    for name in ["title", "version"] {
        assert!(document["info"][name].is_string());
    }
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let place = format!("{method} {path}");
        assert!(path.starts_with('/'), "{place}");
        assert!(["get", "post"].contains(&&*method), "{place}");
        assert!(
            ids.insert(operation["operationId"].as_str().unwrap().to_owned()),
            "{place}"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{place}"
        );
        for (status, response) in responses {
            assert!(
                status
                    .parse::<u16>()
                    .is_ok_and(|status| (200..600).contains(&status))
                    || status == "default",
                "{place}"
            );
            assert!(response["description"].is_string(), "{place} {status}");
        }
        let in_path: BTreeSet<&str> = path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let mut declared = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = match parameter["$ref"].as_str() {
                Some(place) => document.pointer(place.strip_prefix('#').unwrap()).unwrap(),
                None => parameter,
            };
            let name = parameter["name"].as_str().unwrap();
            assert!(
                seen.insert((name, parameter["in"].as_str().unwrap())),
                "{place} {name}"
            );
            assert!(parameter["schema"].is_object(), "{place} {name}");
            if parameter["in"] == "path" {
                assert_eq!(parameter["required"], true, "{place} {name}");
                declared.insert(name);
            }
        }
        assert_eq!(declared, in_path, "{place}");
        assert!(
            method == "post" || operation.get("requestBody").is_none(),
            "{place}"
        );
    }
}

#[test]
fn headers_that_may_be_empty_are_said_to_be_so() {
    let document = openapi::document();
    for name in ["key", "trace"] {
        let parameter = &document["components"]["parameters"][name];
        assert!(jsonschema::is_valid(&parameter["schema"], &json!("")));
        let about = parameter["description"].as_str().unwrap();
        assert!(about.contains("empty value counts as absent"), "{about}");
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_one() {
    let document = openapi::document();
    let mut references = 0;
    each(&document, &mut |fields| {
        if let Some(Value::String(place)) = fields.get("$ref") {
            references += 1;
            let place = place.strip_prefix('#').unwrap_or_else(|| panic!("{place}"));
            assert!(document.pointer(place).is_some(), "{place}");
        }
        assert!(!fields.contains_key("$defs"), "{fields:?}");
    });
    assert!(references > 100, "{references}");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let sound = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        assert!(name.chars().all(sound), "{name}");
        assert!(jsonschema::meta::is_valid(schema), "{name}");
    }
}

/// Returns the schema of an answer in the document.
fn schema_of(document: &Value, path: &str, method: &str, status: &str) -> Value {
    let response = &document["paths"][path][method]["responses"][status];
    let mut schema = response["content"]["application/json"]["schema"].clone();
    schema["components"] = document["components"].clone();
    schema
}

#[test]
fn answers_are_what_the_document_says() {
    let world = World::new();
    let document = openapi::document();
    for line in r#"
        /v1/tasks POST /v1/tasks {"title": "one", "resources": ["src"]} -> 201
        /v1/tasks/{taskId}/claim POST /v1/tasks/1/claim {"agentId": "ada"} -> 200
        /v1/tasks/{taskId}/claim POST /v1/tasks/1/claim {"agentId": "bob"} -> 409
        /v1/tasks GET /v1/tasks -> 200
        /v1/tasks/{taskId} GET /v1/tasks/9 -> 404
        /v1/teams GET /v1/teams -> 200
        /v1/status GET /v1/status -> 200
        /v1/events GET /v1/events -> 200
        /v1/modes GET /v1/modes -> 200
        /v1/threads POST /v1/threads {"participants": ["ada"]} -> 201
        /v1/threads/{threadId}/messages POST /v1/threads/thread-0001/messages {"body": "x"} -> 201
        /v1/threads/{threadId}/tail GET /v1/threads/thread-0001/tail -> 200
        /v1/inbox GET /v1/inbox?agentId=ada -> 200
        /v1/can-write GET /v1/can-write?agentId=ada&path=src/a -> 200
        /v1/api/read-task POST /v1/api/read-task {"task_id": "1"} -> 200
        /v1/api/read-task POST /v1/api/read-task {"task_id": "9"} -> 404
        "#
    .lines()
    .map(str::trim)
    .filter(|line| !line.is_empty())
    {
        let (path, asked) = line.split_once(' ').unwrap();
        let (method, _) = asked.split_once(' ').unwrap();
        let (_, status) = asked.rsplit_once(' ').unwrap();
        let answer = world.story(asked);
        let schema = schema_of(&document, path, &method.to_lowercase(), status);
        if let Err(error) = jsonschema::validate(&schema, &answer) {
            panic!("{line}: {error}: {answer}");
        }
    }
}
