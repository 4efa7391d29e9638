// Parts of the page that several panels use.

import "./style/parts.css";
import "./style/trace.css";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, post, type Params } from "../api/client.ts";
import { useQuery, type Query, type QueryOptions } from "../state/query.ts";
import { at, go as goTo, hrefOf, route, team, type RouteChange } from "../state/route.ts";
import { Command } from "../ui/command.tsx";
import { Empty as Nothing, Failure, Link as PageLink, Loading, Panel as Frame } from "../ui/parts.tsx";
import { Text } from "../ui/text.tsx";
import { Time } from "../ui/time.tsx";

export { commandOf, readingOf } from "../ui/command.tsx";
export { visible } from "../ui/text.tsx";

type Place = Record<string, string | number | null | undefined>;

export const useTeam = (): string => team.value;
export const useAt = (): string | null => at.value;
/** Returns the part of the address after the panel: a trace, a task or a thread. */
export const subject = (): string | null => route.value.rest[0] ?? null;
export const param = (name: string): string | null => route.value.query[name] ?? null;

// `id` is the part of the address after the name of the panel. All other values are in the query.
const change = (panel: string | null, { id, ...query }: Place): RouteChange => ({
  ...(panel === null ? {} : { panel }),
  ...(id === undefined ? {} : { rest: id === null ? [] : [String(id)] }),
  query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value ?? undefined])),
});

/** Changes the part of the address that belongs to this panel. */
export const go = (params: Place, options: { replace?: boolean } = {}): void =>
  goTo(change(null, params), options.replace ?? false);

export const link = (panel: string, params: Place): string => hrefOf(change(panel, params));

interface LinkProps {
  /** Panel that the link opens. `null` means this panel. */
  panel: string | null;
  params: Place;
  class?: string;
  children: ComponentChildren;
}

export const Link = ({ panel, params, children, class: name }: LinkProps): JSX.Element => (
  <PageLink to={change(panel, params)} {...(name === undefined ? {} : { class: name })}>
    {children}
  </PageLink>
);

export const read = async <T,>(path: string, params: Params, signal: AbortSignal): Promise<T> =>
  (await get<T>(path, params, signal)).data;

export const send = <T,>(path: string, body: object): Promise<T> => post<T>(path, body);

export const useRead = <T,>(path: string | null, params: Params = {}, options: QueryOptions = {}): Query<T> =>
  useQuery<T>(path, params, options);

interface ShownProps {
  text: string;
  lines?: boolean;
  /** True if the user can expand a long text. */
  whole?: boolean;
}

/** Shows text that an agent wrote. */
export const Shown = ({ text, lines = false, whole = false }: ShownProps): JSX.Element => (
  <Text value={text} max={lines ? 2000 : 240} lines={lines} fixed={!whole} />
);

export const When = ({ time }: { time: string | null | undefined }): JSX.Element => <Time value={time} />;

interface EmptyProps {
  title: string;
  command?: string;
  children: ComponentChildren;
}

/** Explains why there is nothing to show, and names a command that changes this. */
export const Empty = ({ title, command, children }: EmptyProps): JSX.Element => (
  <Nothing title={title} why={children} command={command} />
);

interface PanelProps {
  title: string;
  command?: string;
  note?: ComponentChildren;
  tools?: ComponentChildren;
  busy?: boolean;
  fill?: boolean;
  children?: ComponentChildren;
}

export const Panel = ({
  title,
  command,
  note,
  tools,
  busy = false,
  fill = false,
  children,
}: PanelProps): JSX.Element => (
  <Frame
    title={title}
    fill={fill}
    {...(command === undefined ? {} : { command })}
    {...(note === undefined ? {} : { note })}
    {...(tools === undefined ? {} : { tools })}
  >
    {busy && <Loading />}
    {children}
  </Frame>
);

export const CopyCommand = ({ line }: { line: string }): JSX.Element => <Command command={line} short />;

export const Failed = ({ error, again }: { error: unknown; again?: () => void }): JSX.Element => (
  <div class="failed">
    <Failure error={error instanceof ApiError ? error : new ApiError(0, "failed", String(error))} />
    {again && (
      <button type="button" onClick={again}>
        Read again
      </button>
    )}
  </div>
);

export const More = ({ onMore, children }: { onMore: () => void; children: ComponentChildren }): JSX.Element => (
  <p class="older">
    <button type="button" onClick={onMore}>
      {children}
    </button>
  </p>
);

const NARROW = "(max-width: 760px)";

export const useNarrow = (): boolean => {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const changed = (): void => setNarrow(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  return narrow;
};
