//! Handlers of the MCP protocol: list tools and resources, call a tool, and read a resource.

use crate::query::{QUERIES, Query, ToolError, meant};
use crate::state::{self, STATES, Session};
use crate::{arguments, legacy, resources};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use std::sync::Arc;
use teamlog_team::Root;
use teamlog_team::command::Origin;

const INSTRUCTIONS: &str = "Read a team's log: tasks, mail, traces, events. Read and write the states of workflow modes \
(state_*). For any other change use the command line: `teamlog api --list` lists all operations, `teamlog prime TEAM \
--agent YOU` shows what to do next.";

/// Function that runs a tool in another process: in the process that has the team open, or in the daemon on another machine. The
/// arguments are the tool's name, the team and the arguments of the call. Returns `None` if no other process has the team open.
pub type Elsewhere =
    Arc<dyn Fn(&str, &str, &Map<String, Value>) -> Option<Result<String, ToolError>> + Send + Sync>;

/// The server for one client. The server keeps no state between calls.
#[derive(Clone)]
pub(crate) struct Server {
    /// The data root. Without a data root, `elsewhere` runs every tool.
    pub root: Option<Root>,
    /// Default team of a call. A server without a data root serves only this team.
    pub team: Option<String>,
    pub session: Session,
    /// Origin that is recorded with the events of the calls.
    pub origin: Origin,
    /// Function to which calls that record events are offered first. Without a data root, all calls go to this
    /// function.
    pub elsewhere: Elsewhere,
}

/// Runs a tool in this process.
///
/// # Errors
/// The errors of the tool; the tool is unknown.
pub fn carry_out(
    root: &Root,
    origin: &Origin,
    tool: &str,
    team: &str,
    arguments: Map<String, Value>,
) -> Result<String, ToolError> {
    let none = || ToolError::new("invalid_input", &format!("no tool {tool:?}"), None);
    let tool = find(tool).ok_or_else(none)?;
    tool.answer(root, origin, Some(team), arguments)
}

/// Returns true if the tool records events.
pub fn records(tool: &str) -> bool {
    find(tool).is_some_and(|tool| tool.mutates)
}

/// Argument with the session that makes claims.
const CLAIM_SESSION: &str = "session";

impl Server {
    fn answer(
        &self,
        query: &Query,
        mut arguments: Map<String, Value>,
    ) -> Result<String, ToolError> {
        if query.of_states {
            state::put_session(&mut arguments, &self.session)?;
        } else if let Some(session) = &self.origin.claim_session
            && query.takes(CLAIM_SESSION)
        {
            let session = session.as_str().into();
            arguments.entry(CLAIM_SESSION).or_insert(session);
        }
        let (origin, own) = (&self.origin, self.team.as_deref());
        if let (Some(root), false) = (&self.root, query.mutates) {
            return query.answer(root, origin, own, arguments);
        }
        let (team, arguments) = meant(self.root.as_ref(), own, arguments)?;
        let done = (self.elsewhere)(query.name, &team, &arguments);
        match (done, &self.root) {
            (Some(done), _) => done,
            (None, Some(root)) => query.answer(root, origin, Some(&team), arguments),
            (None, None) => {
                let message = format!("no team {team} on the daemon");
                Err(ToolError::new("team_not_found", &message, None))
            }
        }
    }

    fn call(&self, request: CallToolRequestParams) -> CallToolResult {
        let arguments = request.arguments.unwrap_or_default();
        if let Some(text) = legacy::deprecation(&request.name, &arguments) {
            return failed(text);
        }
        let Some(query) = find(&request.name) else {
            return failed(format!("Unknown tool: {}", request.name));
        };
        let answered = arguments::fit(query, arguments).and_then(|fitted| {
            let text = self.answer(query, fitted.arguments)?;
            Ok((text, fitted.ignored))
        });
        match answered {
            Ok((text, ignored)) => {
                let mut blocks = vec![ContentBlock::text(text)];
                if !ignored.is_empty() {
                    let note = format!(
                        "note: ignored {}, which {} does not have",
                        ignored.join(", "),
                        query.name
                    );
                    blocks.push(ContentBlock::text(note));
                }
                CallToolResult::success(blocks)
            }
            Err(fault) => failed(fault.0),
        }
    }
}

fn failed(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn tools() -> impl Iterator<Item = &'static Query> {
    QUERIES.iter().chain(STATES.iter())
}

fn find(name: &str) -> Option<&'static Query> {
    tools().find(|tool| tool.name == name)
}

fn tool(query: &Query) -> Tool {
    Tool::new(query.name, query.doc, Arc::new(query.schema.clone()))
        .with_annotations(ToolAnnotations::new().read_only(!query.mutates))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("teamlog", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(request).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let teams = match &self.root {
            Some(root) => root.teams(),
            None => Ok(self.team.iter().cloned().collect()),
        };
        let teams =
            teams.map_err(|failure| ErrorData::internal_error(failure.to_string(), None))?;
        let resources = resources::of_teams(&teams);
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::templates();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let asked = resources::asked(&request.uri);
        match asked.map(|(query, arguments)| self.answer(query, arguments)) {
            None => {
                let message = format!("no resource {:?}: see resources/list", request.uri);
                Err(ErrorData::resource_not_found(message, None))
            }
            Some(Err(fault)) => Err(ErrorData::invalid_params(fault.0, None)),
            Some(Ok(text)) => {
                let contents = ResourceContents::text(text, request.uri);
                let contents = contents.with_mime_type("application/json");
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
        }
    }
}
