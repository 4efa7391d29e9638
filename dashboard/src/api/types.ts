// Types of the daemon's answers, with the fields that the page uses. The names are the names in the JSON.

export interface Lease {
  holder: string;
  epoch: number;
  expiresAt: string;
}

export type TaskStatus = "pending" | "assigned" | "blocked" | "in_progress" | "completed" | "failed" | "canceled";

export interface Task {
  id: string;
  title: string;
  description?: string;
  status: TaskStatus;
  owner: string | null;
  deps: string[];
  failedDependencies?: string[];
  requiresApproval?: boolean;
  approval?: Approval;
  resources: string[];
  lease: Lease | null;
  leaseExpired?: boolean;
  epoch: number;
  version: number;
  priority?: number | string;
  labels?: string[];
  dueAt?: string;
  deferUntil?: string;
  parent?: string;
  children?: { total: number; open: number; completed: number };
  /** Number of comments in the thread of the task. */
  comments?: number;
  updatedAt?: string;
  updatedSeq?: number;
  traceId?: string;
  result?: unknown;
  timestamps: { createdAt: string; startedAt: string | null; completedAt: string | null; failedAt: string | null };
  reportedStatus?: string;
  reportedOwner?: string;
  reportedBlocked?: boolean;
  /** Progress in the form that the reporting agent chose. */
  reportedProgress?: unknown;
  /** Expected time of completion in the form that the reporting agent chose. */
  reportedEta?: unknown;
  reportedNote?: string;
  reportedBy?: string;
  reportedAt?: string;
}

/** The last decision of a reviewer on a task. */
export interface Approval {
  status: "pending" | "approved" | "rejected";
  required: boolean;
  reviewer: string;
  decisionReason: string;
  decidedAt: string;
}

export interface TaskPage {
  tasks: Task[];
  nextCursor?: string | null;
  next_cursor?: string | null;
}

/** A match of a search. */
export interface SearchHit {
  kind: string;
  id: string;
  seq: number;
  by?: string;
  task_id?: string;
  thread_id?: string;
  title?: string;
  excerpt?: string;
}

export interface SearchPage {
  hits: SearchHit[];
  next_cursor?: string;
}

/** An event of the log in its public form. */
export interface LogEvent {
  seq: number;
  id: string;
  created_at: string;
  kind: string;
  actor: string;
  trace_id?: string;
  task_id?: string;
  agent?: string;
  message_id?: string;
  thread_id?: string;
  session_id?: string;
  cause?: string;
  key?: string;
  foreign?: boolean;
  payload?: unknown;
  /** What happened, in one sentence. */
  sentence?: string;
  [field: string]: unknown;
}

export interface EventPage {
  events: LogEvent[];
  count: number;
  next_after?: number;
  next_before?: number | null;
  last_seq: number;
  more: boolean;
}

export interface WhoTask {
  task_id: string;
  subject?: string | null;
  status: TaskStatus;
  updated_at: string;
  epoch?: number;
  leased_until?: string;
  /** Remaining milliseconds of the lease. Zero if the lease has expired. */
  lease_left_ms?: number;
  reported?: string;
  waits_for?: { task_id: string; status: string; owner?: string }[];
  waits_for_total?: number;
}

export interface WhoAgent {
  agent: string;
  /** The agent's own description of its current work. */
  state: string | null;
  unread: number;
  last_event: { seq: number; kind: string; at: string } | null;
  working_on: WhoTask[];
  working_on_total: number;
  waiting: WhoTask[];
  waiting_total: number;
}

export interface Who {
  team: string;
  now: string;
  agents: WhoAgent[];
  count: number;
  live_claims: number;
  next_cursor: string | null;
  /** Agents that left the team for good. */
  retired?: string[];
}

export interface Usage {
  used: { inputTokens: number; outputTokens: number; tokens: number; reports: number };
  agents: { agentId: string; used: { tokens: number; reports: number } }[];
}

export interface Status {
  team: string;
  members: string[];
  tasks_by_status: Record<string, number>;
  task_count: number;
  message_count: number;
  events: number;
  last_seq: number;
  log: string;
  format: string;
}

export type AttentionKind =
  | "damaged"
  | "waits_in_vain"
  | "lease_expired"
  | "overdue_ack"
  | "overdue"
  | "dead_letter"
  | "subscription_parked"
  | "subscription_refused"
  | "write_refused"
  | "approval_rejected"
  | "approval_missing"
  | "stale_task"
  | "bootstrap_breached"
  | "task_failed"
  | "budget_used"
  | "question_open"
  | "reported_blocked"
  | "not_applied"
  | "unknown_dependency"
  | "unknown_owner"
  | "agent_gone";

export interface AttentionItem {
  kind: AttentionKind;
  severity: "error" | "warning";
  text: string;
  command: string;
  task_id?: string;
  title?: string;
  agent?: string;
  message_id?: string;
  path?: string;
  seq?: number;
  since?: string;
  waits_for?: { task_id: string; status: TaskStatus }[];
}

export interface Attention {
  team: string;
  now: string;
  items: AttentionItem[];
  count: number;
  total: number;
  by_kind: Partial<Record<AttentionKind, number>>;
  more: boolean;
}

export interface RootTeam {
  team: string;
  condition: "sound" | "starting" | "unready";
  code?: string;
  why?: string;
  members?: number;
  tasks_by_status?: Record<string, number>;
  events?: number;
  last_seq?: number;
  last_event_at?: string | null;
  attention?: number;
}

export interface RootTeams {
  teams: RootTeam[];
  count: number;
}

export interface Verification {
  team: string;
  state: "never" | "running" | "done";
  progress?: { bytes: number; bytes_total: number };
  started_at?: string;
  finished_at?: string;
  ok?: boolean;
  /** Reason why the work could not be carried out. */
  failure?: string;
  events?: number;
  problems: { kind: string; severity: string; file: string; offset: number; seq: number | null; message: string }[];
}

export type Scope = "read" | "act";

export interface Session {
  session: string;
  team: string | null;
  scope: Scope;
  expires_at: string;
  teams: string[];
}

export interface SessionState {
  team: string | null;
  scope: Scope;
  /** Time at which the session expires. Null for a token, which does not expire. */
  expires_at: string | null;
  version: string;
  data_root_name: string;
  teams: string[];
  now: string;
}

export type Health = "healthy" | "warn" | "unhealthy";

/** The findings of the last `doctor` check. */
export interface Examination {
  state: "never" | "running" | "done";
  failure?: string;
  checks: { name: string; status: Health; message: string; hint?: string }[];
}

/** The error at which a scripted projection stopped. */
export interface ProjectionFailure {
  seq: number;
  field: string;
  message: string;
  line?: number;
}

/** A scripted projection. */
export interface Projection {
  name: string;
  declared_by: string;
  key_by?: string;
  filter?: string;
  seq?: number;
  failure?: ProjectionFailure;
  unsupported?: string;
}

export interface ProjectionList {
  projections: Projection[];
}

export interface ProjectionStates {
  projection: Projection;
  states: { key?: string; state: unknown }[];
  next_cursor: string | null;
}
