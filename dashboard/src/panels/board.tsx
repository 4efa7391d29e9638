// The tasks by status, optionally in one lane per agent.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { HTMLAttributes, JSX } from "preact";
import type { Attention, Task, TaskStatus } from "../api/types.ts";
import { useKeys } from "../shell/keys.ts";
import { useQuery } from "../state/query.ts";
import { at, go, route, team } from "../state/route.ts";
import { signIns, whyNotAct } from "../state/session.ts";
import { dependentsOf, inVain, isInReview, useTasks } from "../state/tasks.ts";
import { Card } from "../ui/card.tsx";
import { commandOf, readingOf } from "../ui/command.tsx";
import { countOf, Empty, Failure, Link, Loading, Panel, statusWord } from "../ui/parts.tsx";
import { TaskAction, TaskMenu, verbTo, type Verb } from "../ui/task-action.tsx";
import { visible } from "../ui/text.tsx";
import { VirtualList } from "../ui/virtual.tsx";
import { COLUMNS, columnsOf, lanesOf, type Lane } from "./board/columns.ts";
import { spotlight } from "./board/spotlight.ts";
import type { PanelEntry } from "./index.ts";
import "../style/board.css";

/** Number of tasks that `teamlog tasks` prints by default. */
const PAGE = 50;
/** Number of cards that a cell of a lane shows. A click shows the other cards. */
const CELL = 5;
/** Number of cards that a cell of finished tasks shows. The newest are enough. */
const CELL_OVER = 3;

interface Shared {
  byId: ReadonlyMap<string, Task>;
  /** Last holder of each task whose lease expired and which no agent has claimed since. */
  lapsed: ReadonlyMap<string, string>;
  still: boolean;
  movable: boolean;
  onMenu: (task: Task, anchor: HTMLElement) => void;
  onSpot: (id: string | null) => void;
  onDrop: (id: string, column: TaskStatus) => void;
}

const dropping = (shared: Shared, column: TaskStatus): HTMLAttributes<HTMLDivElement> =>
  !shared.movable ? {} : {
    onDragOver: (event) => {
      if (event.dataTransfer?.types.includes("text/x-teamlog-task") === true) event.preventDefault();
    },
    onDrop: (event) => {
      event.preventDefault();
      const id = event.dataTransfer?.getData("text/x-teamlog-task") ?? "";
      if (id !== "") shared.onDrop(id, column);
    },
  };

const OneCard = ({ task, shared, hideOwner }: { task: Task; shared: Shared; hideOwner?: boolean }): JSX.Element => (
  <Card task={task} byId={shared.byId} lapsedOf={shared.lapsed.get(task.id)} still={shared.still} movable={shared.movable} hideOwner={hideOwner ?? false} onMenu={shared.onMenu} onSpot={shared.onSpot} />
);

const CardList = ({ status, tasks, shared }: { status: TaskStatus; tasks: Task[]; shared: Shared }): JSX.Element => {
  const draw = useCallback((task: Task) => <OneCard task={task} shared={shared} />, [shared]);
  return <VirtualList label={`Tasks ${statusWord(status)}`} items={tasks} keyOf={(task) => task.id} estimate={76} gap={6} measured render={draw} />;
};

const Columns = ({ columns, shared }: { columns: ReadonlyMap<TaskStatus, Task[]>; shared: Shared }): JSX.Element => (
  <div class="board-columns">
    {COLUMNS.filter((status) => columns.has(status)).map((status) => {
      const tasks = columns.get(status) ?? [];
      return (
        <div key={status} class="board-column" data-status={status} {...dropping(shared, status)}>
          <h2>{statusWord(status)} <span class="sub">{tasks.length.toLocaleString("en")}</span></h2>
          {tasks.length > 0 && <CardList status={status} tasks={tasks} shared={shared} />}
        </div>
      );
    })}
  </div>
);

const Cell = ({ lane, status, shared }: { lane: Lane; status: TaskStatus; shared: Shared }): JSX.Element => {
  const tasks = lane.columns.get(status) ?? [];
  const most = ["completed", "failed", "canceled"].includes(status) ? CELL_OVER : CELL;
  return (
    <div class="lane-cell" data-status={status} data-title={statusWord(status)} {...dropping(shared, status)}>
      {tasks.slice(0, most).map((task) => <OneCard key={task.id} task={task} shared={shared} hideOwner />)}
      {tasks.length > most && (
        <Link to={{ query: { owner: lane.owner === "" ? "-" : lane.owner, lanes: "off" } }} class="lane-more">{(tasks.length - most).toLocaleString("en")} more</Link>
      )}
    </div>
  );
};

const Lanes = ({ lanes, shown, counts, shared }: { lanes: Lane[]; shown: TaskStatus[]; counts: ReadonlyMap<TaskStatus, Task[]>; shared: Shared }): JSX.Element => {
  const draw = useCallback(
    (lane: Lane) => (
      <section class="lane" aria-label={lane.owner === "" ? "Nobody's" : `Lane of ${lane.owner}`}>
        <h2 class="lane-name">{lane.owner === "" ? "nobody" : <Link to={{ query: { owner: lane.owner } }} class="ref">{lane.owner}</Link>} <span class="sub">{countOf(lane.count, "task")}</span></h2>
        <div class="lane-cells">
          {shown.map((status) => <Cell key={status} lane={lane} status={status} shared={shared} />)}
        </div>
      </section>
    ),
    [shared, shown.join()],
  );
  return (
    <div class="board-lanes" style={{ "--columns": String(shown.length) }}>
      <div class="lane-head" aria-hidden="true">
        {shown.map((status) => <h2 key={status}>{statusWord(status)} <span class="sub">{(counts.get(status)?.length ?? 0).toLocaleString("en")}</span></h2>)}
      </div>
      <VirtualList label="Lanes by agent" items={lanes} keyOf={(lane) => lane.owner} estimate={180} measured render={draw} />
    </div>
  );
};

/** Returns the command that lists the tasks of the board. */
const commandFor = ({ owner, vain, label, parent, review }: Record<string, string | undefined>, count: number): string => {
  const given = (option: string, value: string | undefined): string[] => (value === undefined || value === "-" ? [] : [option, value]);
  if (vain !== undefined) return readingOf("attention", "TEAM", "--kind", "waits_in_vain", ...given("--agent", owner));
  if (review !== undefined) return readingOf("attention", "TEAM", "--kind", "approval_missing", ...given("--agent", owner));
  const list = owner === "-" ? ["list", "TEAM", "--unowned"] : ["tasks", "TEAM"];
  return readingOf(...list, ...given("--owner", owner), ...given("--label", label), ...given("--parent", parent), ...(count > PAGE ? ["--limit", 0] : []));
};

interface ChoiceProps {
  /** Name of the field, which is also its name in the address. */
  name: "label" | "parent";
  all: readonly string[];
  chosen: string | undefined;
  titles?: ReadonlyMap<string, Task>;
}

/** A filter of the tasks by a label or a parent. */
const Choice = ({ name, all, chosen, titles }: ChoiceProps): JSX.Element | null => {
  if (all.length === 0 && chosen === undefined) return null;
  const values = chosen === undefined || all.includes(chosen) ? all : [chosen, ...all];
  return (
    <select aria-label={`Only tasks of this ${name}`} value={chosen ?? ""} onChange={(event) => go({ query: { [name]: event.currentTarget.value || undefined } })}>
      <option value="">all {name}s</option>
      {values.map((value) => <option key={value} value={value}>{visible(titles?.get(value) === undefined ? value : `${value} ${titles.get(value)?.title ?? ""}`).slice(0, 60)}</option>)}
    </select>
  );
};

const Board = (): JSX.Element => {
  const { owner, vain, label, parent, review, lanes: laneSetting } = route.value.query;
  const tasks = useTasks(team.value, at.value, signIns.value);
  const attention = useQuery<Attention>("/v1/attention", { limit: 500 }, { on: ["task_"], every: 2000 }).data;
  const [menu, setMenu] = useState<{ task: Task; anchor: HTMLElement } | null>(null);
  const [action, setAction] = useState<{ task: Task; verb: Verb } | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const byLane = laneSetting !== "off" && owner === undefined;
  const list = useMemo(
    () => tasks.list.filter((task) => (owner === undefined || (owner === "-" ? task.owner === null : task.owner === owner)) && (vain === undefined || inVain(task, tasks.byId).length > 0)
      && (label === undefined || task.labels?.includes(label) === true) && (parent === undefined || task.parent === parent) && (review === undefined || isInReview(task))),
    [tasks.list, owner, vain, label, parent, review],
  );
  const troubledIds = (attention?.items ?? []).flatMap((item) => item.task_id ?? []).join("\n");
  const troubled = useMemo(() => {
    const ids = new Set(troubledIds.split("\n"));
    return (task: Task) => ids.has(task.id);
  }, [troubledIds]);
  const lapsedText = JSON.stringify((attention?.items ?? []).flatMap((item) => (item.kind === "lease_expired" && item.task_id !== undefined ? [[item.task_id, item.agent ?? ""]] : [])));
  const lapsed = useMemo(() => new Map<string, string>(JSON.parse(lapsedText) as [string, string][]), [lapsedText]);
  const columns = useMemo(() => columnsOf(list, troubled), [list, troubled]);
  const lanes = useMemo(() => (byLane ? lanesOf(list, troubled, lapsed) : []), [list, byLane, troubled, lapsed]);
  const labels = useMemo(() => [...new Set(tasks.list.flatMap((task) => task.labels ?? []))].sort(), [tasks.list]);
  const parents = useMemo(() => tasks.list.filter((task) => task.children !== undefined), [tasks.list]);
  const reviewed = useMemo(() => tasks.list.filter(isInReview).length, [tasks.list]);
  const waiting = useMemo(() => tasks.list.filter((task) => inVain(task, tasks.byId).length > 0).length, [tasks.list]);
  const movable = whyNotAct.value === null;
  const still = at.value !== null;
  const shared = useMemo<Shared>(() => {
    let after: Map<string, string[]> | null = null;
    return {
      byId: tasks.byId,
      lapsed,
      still,
      movable,
      onMenu: (task, anchor) => setMenu({ task, anchor }),
      onSpot: (id) => {
        after ??= dependentsOf(tasks.list);
        spotlight(frame.current, id === null ? null : tasks.byId.get(id) ?? null, after);
      },
      onDrop: (id, column) => {
        const task = tasks.byId.get(id);
        const verb = task === undefined ? null : verbTo(task, column);
        if (task !== undefined && verb !== null) setAction({ task, verb });
      },
    };
  }, [tasks.byId, lapsed, still, movable]);
  useEffect(() => spotlight(frame.current, null, new Map()), [route.value]);

  const walk = (by: number): void => {
    const cards = [...(frame.current?.querySelectorAll<HTMLElement>(".card") ?? [])];
    const here = cards.findIndex((card) => card === document.activeElement);
    cards[Math.max(0, Math.min(cards.length - 1, here + by))]?.focus();
  };
  useKeys({
    j: () => walk(1),
    k: () => walk(-1),
    w: () => go({ query: { lanes: byLane ? "off" : undefined, owner: undefined } }),
    v: () => go({ query: { vain: vain === undefined ? "true" : undefined } }),
  });

  return (
    <Panel
      title="Board"
      fill
      command={commandFor(route.value.query, list.length)}
      note={<>{countOf(list.length, "task")}{!tasks.complete && tasks.list.length > 0 && tasks.error === null && ", reading on…"}</>}
      tools={
        <>
          {owner !== undefined && <button type="button" aria-pressed={true} title="Show all agents" onClick={() => go({ query: { owner: undefined } })}>{owner === "-" ? "nobody's" : owner} ✕</button>}
          {(waiting > 0 || vain !== undefined) && <button type="button" aria-pressed={vain !== undefined} title="Only tasks whose dependency failed or was canceled (v)" onClick={() => go({ query: { vain: vain === undefined ? "true" : undefined } })}>{waiting} stuck</button>}
          {(reviewed > 0 || review !== undefined) && <button type="button" aria-pressed={review !== undefined} title="Only tasks in progress that wait for an approval" onClick={() => go({ query: { review: review === undefined ? "true" : undefined } })}>{reviewed} in review</button>}
          <Choice name="label" all={labels} chosen={label} />
          <Choice name="parent" all={parents.map((task) => task.id)} chosen={parent} titles={tasks.byId} />
          <button type="button" aria-pressed={byLane} title="A lane for each agent (w)" onClick={() => go({ query: { lanes: byLane ? "off" : undefined, owner: undefined } })}>Lanes</button>
        </>
      }
    >
      {tasks.error !== null && <Failure error={tasks.error} />}
      {tasks.loading && tasks.list.length === 0 && tasks.error === null && <Loading />}
      {tasks.complete && list.length === 0 && (
        tasks.list.length === 0
          ? <Empty title="No tasks yet" why={at.value === null ? "This team has no tasks." : "There were no tasks at that time."} command={commandOf("task", "create", "TEAM", "--subject", "Fix the parser")} />
          : <Empty title="No matching task" why="The filter hides all tasks." command={readingOf("tasks", "TEAM")} />
      )}
      {list.length > 0 && (
        <div class="board" ref={frame}>
          {byLane ? <Lanes lanes={lanes} shown={COLUMNS.filter((status) => columns.has(status))} counts={columns} shared={shared} /> : <Columns columns={columns} shared={shared} />}
        </div>
      )}
      {menu !== null && <TaskMenu task={menu.task} anchor={menu.anchor} onClose={() => setMenu(null)} onPick={(verb) => {
        setMenu(null);
        setAction({ task: menu.task, verb });
      }} />}
      {action !== null && <TaskAction task={action.task} verb={action.verb} onClose={() => setAction(null)} />}
    </Panel>
  );
};

export const panel: PanelEntry = {
  id: "board",
  title: "Board",
  order: 20,
  key: "b",
  keys: [["j", "next card"], ["k", "previous card"], ["Enter", "actions for the card"], ["w", "lanes or columns"], ["v", "only stuck tasks"]],
  component: Board,
};
