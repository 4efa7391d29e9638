//! A client of the Model Context Protocol that writes and reads lines, without a protocol crate.

use super::*;

pub struct Client {
    pub child: Child,
    pub to: Option<ChildStdin>,
    pub from: BufReader<ChildStdout>,
    asked: u64,
    /// Value of `_meta` in each request. Newer versions of the protocol use it instead of a session.
    pub meta: Option<Value>,
}

impl Client {
    pub fn start(cli: &Cli, line: &str) -> Client {
        Client::start_with(cli, line, &[])
    }

    pub fn start_with(cli: &Cli, line: &str, vars: &[(&str, &str)]) -> Client {
        let mut command = cli.command(line);
        command.envs(vars.iter().copied());
        Client::of(command)
    }

    /// Starts a server with `command`.
    pub fn of(mut command: Command) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Client {
            to: child.stdin.take(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            asked: 0,
            meta: None,
        }
    }

    /// Starts a client that sends `initialize` first, like clients up to the year 2025.
    pub fn initialized(cli: &Cli, line: &str) -> (Client, Value) {
        Client::initialized_with(cli, line, &[])
    }

    /// Starts a client that sends `initialize` first, with additional environment variables.
    pub fn initialized_with(cli: &Cli, line: &str, vars: &[(&str, &str)]) -> (Client, Value) {
        Client::start_with(cli, line, vars).introduced()
    }

    pub fn introduced(mut self) -> (Client, Value) {
        let client = &mut self;
        let about = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (self, about)
    }

    pub fn say(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn answer(&mut self, method: &str, mut params: Value) -> Value {
        self.asked += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.asked;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{line}");
        answer
    }

    /// Sends bytes unchanged, and reads the next line.
    pub fn raw(&mut self, line: &[u8]) -> Value {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).unwrap();
        to.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Starts a server with `command`, and sends `initialize`.
    pub fn initialized_of(command: Command) -> Client {
        Client::of(command).introduced().0
    }

    /// Returns the server's tools.
    pub fn tools(&mut self) -> Vec<Value> {
        let listed = self.ask("tools/list", json!({}));
        listed["tools"].as_array().unwrap().clone()
    }

    /// Calls a tool. Returns the text of the answer, and true if the answer is an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let result = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        (
            content[0]["text"].as_str().unwrap().to_owned(),
            result["isError"] == true,
        )
    }

    pub fn json(&mut self, tool: &str, arguments: Value) -> Value {
        let (text, failed) = self.call(tool, arguments);
        assert!(!failed, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    pub fn fault(&mut self, tool: &str, arguments: Value) -> Value {
        let (text, failed) = self.call(tool, arguments);
        assert!(failed, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    pub fn end(mut self) {
        drop(self.to.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}
