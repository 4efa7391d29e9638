//! Converts lines of an MCP client to messages, and answers lines that are not valid messages.
//!
//! Every request with an id gets an answer. If a request cannot be parsed, this module searches the text of the
//! request for the id.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, InitializeRequestParams, JsonRpcMessage,
    ReadResourceRequestParams,
};
use rmcp::service::RxJsonRpcMessage;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Result of reading a line, or an item of a batch.
#[derive(Debug)]
pub enum Incoming {
    /// A valid message for the server.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The answer to an invalid message.
    Reply(Value),
}

/// A fault in a request.
struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    fn new(code: i64, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
            data: None,
        }
    }

    fn reply(self, id: Value) -> Incoming {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(data), Some(fields)) = (self.data, error.as_object_mut()) {
            fields.insert("data".to_owned(), data);
        }
        Incoming::Reply(json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }
}

/// Parses a line without its line end. A batch contains several messages, and each gets its own answer.
pub fn read(line: &[u8]) -> Vec<Incoming> {
    let text = line.strip_prefix(BOM).unwrap_or(line);
    if text.trim_ascii().is_empty() {
        return Vec::new();
    }
    match parse(text) {
        Ok(Value::Array(items)) if !items.is_empty() => {
            items.into_iter().filter_map(message).collect()
        }
        Ok(value) => message(value).into_iter().collect(),
        Err((offset, why)) => {
            let offset = offset + (line.len() - text.len());
            let mut fault = Fault::new(PARSE_ERROR, format!("parse error at byte {offset}: {why}"));
            fault.data = Some(json!({"offset": offset}));
            vec![fault.reply(find_id(text).unwrap_or_default())]
        }
    }
}

/// Makes the answer to a line that is too long. `begin` is the beginning of the line.
pub fn too_long(begin: &[u8], limit: usize) -> Incoming {
    let message = format!("a message must have at most {limit} bytes");
    Fault::new(INVALID_REQUEST, message).reply(find_id(begin).unwrap_or_default())
}

/// Parses JSON. The error has the offset of the first invalid byte.
fn parse(text: &[u8]) -> Result<Value, (usize, String)> {
    if let Err(error) = std::str::from_utf8(text) {
        return Err((error.valid_up_to(), "invalid UTF-8".to_owned()));
    }
    serde_json::from_slice(text).map_err(|error| {
        let said = error.to_string();
        // The text is one line, so the offset is the column of the error.
        let why = said.split(" at line ").next().unwrap_or(&said).to_owned();
        let offset = match error.is_eof() {
            true => text.len(),
            false => error.column().saturating_sub(1),
        };
        (offset, why)
    })
}

/// Converts a JSON value to a message. Returns `None` if the value is ignored.
fn message(value: Value) -> Option<Incoming> {
    let Value::Object(mut fields) = value else {
        let fault = Fault::new(INVALID_REQUEST, "a message must be a JSON object");
        return Some(fault.reply(Value::Null));
    };
    fields
        .entry("jsonrpc")
        .or_insert_with(|| Value::from("2.0"));
    let answers = fields.contains_key("result") || fields.contains_key("error");
    let method = fields.get("method").and_then(Value::as_str);
    let notifies = method.is_some_and(|method| method.starts_with("notifications/"));
    match fields.get("id").cloned() {
        Some(id) if notifies && !id.is_null() => {
            let why = "a notification must have no id, because it is not answered";
            Some(Fault::new(INVALID_REQUEST, why).reply(id))
        }
        _ if notifies || (method.is_none() && answers) => {
            fields.retain(|field, _| !notifies || field != "id");
            typed(fields).map(Incoming::Message)
        }
        Some(id) => Some(match request(fields, &id) {
            Ok(message) => Incoming::Message(message),
            Err(fault) => fault.reply(id),
        }),
        // MCP does not define this notification.
        None if method.is_some() => typed(fields).map(Incoming::Message),
        None => {
            let fault = Fault::new(INVALID_REQUEST, "method is missing");
            Some(fault.reply(Value::Null))
        }
    }
}

fn typed(fields: Map<String, Value>) -> Option<Box<RxJsonRpcMessage<RoleServer>>> {
    serde_json::from_value(Value::Object(fields))
        .ok()
        .map(Box::new)
}

/// Parses a request. The error names the field and the expected type.
fn request(
    mut fields: Map<String, Value>,
    id: &Value,
) -> Result<Box<RxJsonRpcMessage<RoleServer>>, Fault> {
    let is_whole = |id: f64| id.fract() == 0.0 && id.abs() <= i32::MAX.into();
    let is_id = id.is_string() || id.is_i64() || id.as_f64().is_some_and(is_whole);
    if !is_id {
        let message = format!("id must be a string or a signed 64-bit integer, but is {id}");
        return Err(Fault::new(INVALID_REQUEST, message));
    }
    if fields.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err(Fault::new(INVALID_REQUEST, "jsonrpc must be \"2.0\""));
    }
    let method = match fields.get("method") {
        Some(Value::String(method)) => method.clone(),
        Some(_) => return Err(Fault::new(INVALID_REQUEST, "method must be a string")),
        None => return Err(Fault::new(INVALID_REQUEST, "method is missing")),
    };
    let mut params = object(fields.remove("params").unwrap_or_default(), "params")?;
    if method == "tools/call" && params.contains_key("arguments") {
        let arguments = params.remove("arguments").unwrap_or_default();
        let arguments = object(arguments, "params.arguments")?;
        params.insert("arguments".to_owned(), arguments.into());
    }
    match &*method {
        "initialize" => check::<InitializeRequestParams>(&method, &params)?,
        "tools/call" => check::<CallToolRequestParams>(&method, &params)?,
        "resources/read" => check::<ReadResourceRequestParams>(&method, &params)?,
        _ => {}
    }
    if !params.is_empty() {
        fields.insert("params".to_owned(), params.into());
    }
    let message = typed(fields).ok_or_else(|| {
        let message = format!("params of {method} do not match the protocol");
        Fault::new(INVALID_PARAMS, message)
    })?;
    match &*message {
        JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::CustomRequest(_)) =>
        {
            let message = format!("unknown method {method:?}, or wrong params");
            Err(Fault::new(METHOD_NOT_FOUND, message))
        }
        JsonRpcMessage::Request(_) => Ok(message),
        _ => Err(Fault::new(INVALID_REQUEST, "the message is not a request")),
    }
}

/// Parses an object, or text that contains a JSON object. `null`, blank text and an empty list become an empty object.
fn object(value: Value, field: &str) -> Result<Map<String, Value>, Fault> {
    let refused = |found: &str| {
        let message = format!("{field} must be an object or its JSON text, but {found}");
        Fault::new(INVALID_PARAMS, message)
    };
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields),
        Value::Array(items) if items.is_empty() => Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(_) => Err(refused("is the JSON text of another type")),
            Err(error) => Err(refused(&format!("is not valid JSON: {error}"))),
        },
        Value::Array(_) => Err(refused("is an array")),
        other => Err(refused(&format!("is {other}"))),
    }
}

fn check<P: DeserializeOwned>(method: &str, params: &Map<String, Value>) -> Result<(), Fault> {
    let read = serde_json::from_value::<P>(Value::Object(params.clone()));
    read.map(drop)
        .map_err(|error| Fault::new(INVALID_PARAMS, format!("params of {method}: {error}")))
}

/// Finds the id in invalid JSON: the value of the first field `"id"` of the outermost object.
fn find_id(text: &[u8]) -> Option<Value> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(text, at);
                let rest = text.get(end..)?.trim_ascii_start();
                if depth == 1
                    && text.get(at..end) == Some(b"\"id\"")
                    && let Some(value) = rest.strip_prefix(b":")
                {
                    return scalar(value.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the position after the string that begins at `start`.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Parses the string or integer at the beginning of a text.
fn scalar(text: &[u8]) -> Option<Value> {
    let end = match text.first()? {
        b'"' => string_end(text, 0),
        _ => text
            .iter()
            .position(|byte| !(byte.is_ascii_digit() || *byte == b'-'))
            .unwrap_or(text.len()),
    };
    let value = serde_json::from_slice(text.get(..end)?).ok()?;
    matches!(value, Value::String(_) | Value::Number(_)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &[u8]) -> Value {
        match read(line).pop() {
            Some(Incoming::Reply(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_that_is_no_json_is_answered_under_its_id() {
        for (line, id, offset) in [
            (&br#"{"id":7,"params":{"a":NaN}}"#[..], json!(7), 22),
            (
                b"{\"params\":{\"id\":1,\"b\":\"\xff\"},\"id\":\"x\"}",
                json!("x"),
                23,
            ),
            (b"\xEF\xBB\xBF{\"id\":8,]", json!(8), 11),
            (b"{\"id\": -3, \"a\": \"x\x01\"}", json!(-3), 18),
            (b"not json", Value::Null, 1),
            (b"{\"a\":\"\\\"id\\\":5\", \"id\"", Value::Null, 21),
        ] {
            let reply = reply(line);
            let text = String::from_utf8_lossy(line);
            assert_eq!(reply["id"], id, "{text}");
            assert_eq!(reply["error"]["code"], PARSE_ERROR, "{text}");
            assert_eq!(reply["error"]["data"]["offset"], offset, "{text}: {reply}");
        }
        let surrogate = reply(br#"{"id":9,"params":{"a":"\ud800"}}"#);
        assert_eq!(surrogate["id"], 9);
        assert!(
            surrogate["error"]["message"]
                .to_string()
                .contains("at byte 2"),
            "{surrogate}"
        );
    }

    #[test]
    fn a_request_that_is_none_names_its_field() {
        for (line, id, code, said) in [
            (
                r#"{"id":1,"method":7}"#,
                json!(1),
                INVALID_REQUEST,
                "method",
            ),
            (
                r#"{"id":1.5,"method":"ping"}"#,
                json!(1.5),
                INVALID_REQUEST,
                "id must",
            ),
            (
                r#"{"id":18446744073709551615,"method":"ping"}"#,
                json!(u64::MAX),
                INVALID_REQUEST,
                "64-bit",
            ),
            (
                r#"{"id":null,"method":"ping"}"#,
                Value::Null,
                INVALID_REQUEST,
                "id must",
            ),
            (
                r#"{"jsonrpc":"1.0","id":2,"method":"ping"}"#,
                json!(2),
                INVALID_REQUEST,
                "jsonrpc",
            ),
            (
                r#"{"id":3,"method":"x/y"}"#,
                json!(3),
                METHOD_NOT_FOUND,
                "x/y",
            ),
            (
                r#"{"id":4,"method":"tools/call"}"#,
                json!(4),
                INVALID_PARAMS,
                "name",
            ),
            (
                r#"{"id":5,"method":"ping","params":[1]}"#,
                json!(5),
                INVALID_PARAMS,
                "params",
            ),
            (
                r#"{"id":6,"method":"tools/call","params":{"name":"x","arguments":"{a"}}"#,
                json!(6),
                INVALID_PARAMS,
                "params.arguments",
            ),
            (
                r#"{"id":7,"method":"resources/read","params":{}}"#,
                json!(7),
                INVALID_PARAMS,
                "uri",
            ),
            (
                r#"{"id":8,"method":"initialize"}"#,
                json!(8),
                INVALID_PARAMS,
                "protocolVersion",
            ),
            ("[]", Value::Null, INVALID_REQUEST, "object"),
            ("{}", Value::Null, INVALID_REQUEST, "method"),
        ] {
            let reply = reply(line.as_bytes());
            assert_eq!(
                (&reply["id"], &reply["error"]["code"]),
                (&id, &json!(code)),
                "{line}"
            );
            assert!(
                reply["error"]["message"].to_string().contains(said),
                "{reply}"
            );
        }
    }

    #[test]
    fn what_needs_no_answer_has_none() {
        for line in ["", " \r", r#"{"method":"$/x"}"#, r#"{"id":1,"result":7}"#] {
            let replies = read(line.as_bytes()).into_iter();
            let replies = replies.filter(|one| matches!(one, Incoming::Reply(_)));
            assert_eq!(replies.count(), 0, "{line}");
        }
        let batch = read(br#"[{"id":1,"method":"ping"},{"id":2,"method":"tools/list"},7]"#);
        assert_eq!(batch.len(), 3);
    }
}
