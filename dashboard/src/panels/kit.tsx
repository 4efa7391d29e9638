// What the panels use of the page around them.

import type { ComponentChildren } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';

export const hash = signal(location.hash);
addEventListener('hashchange', () => (hash.value = location.hash));
const token = new URLSearchParams(location.search).get('token') ?? 'x';

function parts(): { team: string; panel: string; query: URLSearchParams } {
  const [path = '', query = ''] = hash.value.replace(/^#/, '').split('?');
  const [, , team = 'demo', panel = 'trace'] = path.split('/');
  return { team, panel, query: new URLSearchParams(query) };
}
export const panelName = (): string => parts().panel;
export const useTeam = (): string => parts().team;
export const useAt = (): string | null => parts().query.get('at');
export const param = (name: string): string | null => parts().query.get(name);
export const mayAct = (): boolean => useAt() === null;
type Params = Record<string, string | number | null | undefined>;

function address(panel: string | null, params: Params, keep: boolean): string {
  const here = parts();
  const query = keep ? here.query : new URLSearchParams(here.query.get('at') ? { at: here.query.get('at') ?? '' } : {});
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined) query.delete(name);
    else query.set(name, String(value));
  }
  const text = query.toString();
  return `#/t/${here.team}/${panel ?? here.panel}${text ? `?${text}` : ''}`;
}
export const link = (panel: string, params: Params): string => address(panel, params, false);
export function go(params: Params, options: { replace?: boolean } = {}): void {
  const to = address(null, params, true);
  if (options.replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  hash.value = to;
}
export function Link(props: { panel: string | null; params: Params; children?: ComponentChildren; class?: string }) {
  return <a class={props.class} href={address(props.panel, props.params, props.panel === null)}>{props.children}</a>;
}
export async function read<T>(path: string, query: Params = {}, stop?: AbortSignal): Promise<T> {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` }, ...(stop ? { signal: stop } : {}) });
  const body: unknown = await answer.json();
  if (!answer.ok) throw body;
  return body as T;
}
export async function send<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetch(path, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify(body) });
  const told: unknown = await answer.json();
  if (!answer.ok) throw told;
  return told as T;
}
export const useNewest = (_of: unknown): number => 0;
export function useRead<T>(path: string | null, query: Params = {}, options: { past?: boolean; every?: number } = {}) {
  const [state, set] = useState<{ data?: T; error?: unknown }>({});
  const [turn, again] = useReducer((count: number) => count + 1, 0);
  const at = options.past === false ? null : useAt();
  const key = JSON.stringify([path, query, at]);
  const last = useRef('');
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    if (last.current !== key) set({});
    last.current = key;
    read<T>(path, { ...query, at }, stop.signal).then((data) => set({ data }), (error: unknown) => { if (!stop.signal.aborted) set({ error }); });
    return () => stop.abort();
  }, [key, turn]);
  return { ...state, again: () => again(undefined) };
}
export function Shown({ text }: { text: string; lines?: boolean }) {
  return <bdi>{text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, (c) => `␛${c.charCodeAt(0).toString(16)}`)}</bdi>;
}
export function When({ time }: { time: string }) {
  return <time dateTime={time}>{new Date(time).toISOString().replace('T', ' ').slice(0, 19)}</time>;
}
export function CopyCommand({ line }: { line: string }) {
  return <button type="button" class="copy" title={line} onClick={() => void navigator.clipboard.writeText(line)}>Copy as command</button>;
}
export function Empty({ children, command }: { children?: ComponentChildren; command?: string }) {
  return <div class="empty"><p>{children}</p>{command && <code>{command}</code>}</div>;
}
export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  return <div role="alert" class="failed">{JSON.stringify(error)} {again && <button type="button" onClick={again}>Again</button>}</div>;
}
export function Panel(props: { title: ComponentChildren; command?: string; busy?: boolean; fill?: boolean; children?: ComponentChildren }) {
  return <section class={props.fill ? 'panel panel-fill' : 'panel'} aria-busy={props.busy}><header class="panel-head"><h1>{props.title}</h1>{props.command && <CopyCommand line={props.command} />}</header>{props.children}</section>;
}
export function More({ onMore, children }: { onMore: () => void; children?: ComponentChildren }) {
  return <p class="more"><button type="button" onClick={onMore}>{children}</button></p>;
}
export function useNarrow(): boolean {
  const [narrow, set] = useState(() => matchMedia('(max-width: 720px)').matches);
  useEffect(() => {
    const media = matchMedia('(max-width: 720px)');
    const changed = (): void => set(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return narrow;
}
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  const held = useRef(onKey);
  held.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!(event.target instanceof HTMLElement && event.target.closest('input, textarea, select'))) held.current(event);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
