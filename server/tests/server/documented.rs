//! Checks errors against the schemas of the OpenAPI document.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use teamlog_server::openapi;

static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi::document);
/// Validators by the JSON pointer of their schema.
static VALIDATORS: LazyLock<Mutex<HashMap<String, jsonschema::Validator>>> =
    LazyLock::new(Mutex::default);

/// Checks the error answer of a request against the document.
#[track_caller]
pub fn check(method: &str, target: &str, status: u16, body: &Value) {
    let place = place(method, target, status);
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = validators.entry(place.clone()).or_insert_with(|| {
        let mut schema = DOCUMENT.pointer(&place).unwrap().clone();
        schema["components"] = DOCUMENT["components"].clone();
        jsonschema::validator_for(&schema).unwrap()
    });
    if let Err(error) = validator.validate(body) {
        panic!("{method} {target} {status}: {error}: {body}");
    }
}

/// Returns the JSON pointer to the schema that the document has for the answer to a request.
#[track_caller]
fn place(method: &str, target: &str, status: u16) -> String {
    let Some(path) = documented_path(target) else {
        // A path that does not exist has no operation, so its error has the general schema.
        return "/components/schemas/ErrorBody".to_owned();
    };
    let path_of = path.replace('~', "~0").replace('/', "~1");
    let item = DOCUMENT["paths"][&path].as_object().unwrap();
    let own = method.to_lowercase().replace("head", "get");
    // If the path does not support the method, the schema of any other method of the path applies.
    let operation = match item.contains_key(&own) {
        true => own,
        false => item.keys().next().unwrap().clone(),
    };
    let responses = item[&operation]["responses"].as_object().unwrap();
    let status = status.to_string();
    let listed = match responses.contains_key(&status) {
        true => status.as_str(),
        false => "default",
    };
    let content = &responses.get(listed).unwrap_or(&Value::Null)["content"];
    assert!(
        content["application/json"]["schema"] != json!(null),
        "{method} {path} {status} is not documented"
    );
    format!("/paths/{path_of}/{operation}/responses/{listed}/content/application~1json/schema")
}

/// Returns the path in the document that matches the target of a request.
fn documented_path(target: &str) -> Option<String> {
    let path = target.split('?').next().unwrap_or_default();
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let given: Vec<&str> = path.split('/').collect();
    let fits = |path: &&String| {
        let own: Vec<&str> = path.split('/').collect();
        own.len() == given.len()
            && own
                .iter()
                .zip(&given)
                .all(|(own, given)| own == given || own.starts_with('{') && !given.is_empty())
    };
    let mut fitting: Vec<&String> = paths.keys().filter(fits).collect();
    fitting.sort_by_key(|path| path.matches('{').count());
    fitting.first().map(|path| (*path).clone())
}
