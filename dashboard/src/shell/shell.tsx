// The page around the panels: header, navigation, banners, and the panel that the address names.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { bars } from "../bars/index.ts";
import { panelOf, panels } from "../panels/index.ts";
import type { Attention } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { at, go, route, setAt, team } from "../state/route.ts";
import { isRoot, session, reachable, signedOut } from "../state/session.ts";
import { timeForm, TIME_FORMS } from "../state/settings.ts";
import { Link, Panel } from "../ui/parts.tsx";
import { Text } from "../ui/text.tsx";
import { Header } from "./header.tsx";
import { useKeys } from "./keys.ts";
import { KeyList } from "./key-list.tsx";
import { open, overlay } from "./overlay.ts";
import { Palette } from "./palette.tsx";
import { SignedOut, SignIn } from "./sign-in.tsx";

const Navigation = (): JSX.Element => {
  const { data } = useQuery<Attention>("/v1/attention", { limit: 100 }, { on: "any", every: 15_000 });
  const errors = data?.items.some((item) => item.severity === "error") ?? false;
  return (
    <nav class="side" aria-label="Panels">
      {panels
        .filter((panel) => panel.order !== undefined && !(panel.root ?? false))
        .map((panel) => (
          <Link key={panel.id} to={{ panel: panel.id, rest: [] }} class={panel.id === route.value.panel ? "current" : ""}>
            <span>{panel.title}</span>
            {panel.id === "attention" && data !== null && data.total > 0 && (
              <span class={errors ? "count error" : "count warn"}>{data.total}</span>
            )}
          </Link>
        ))}
    </nav>
  );
};

const AsOf = (): JSX.Element | null => {
  const point = at.value;
  if (point === null) return null;
  return (
    <div class="as-of" role="status">
      <strong>As of {/^\d+$/.test(point) ? `#${point}` : point}.</strong>
      <span>You cannot make changes here.</span>
      <button type="button" onClick={() => setAt(null)}>Back to now <kbd>End</kbd></button>
    </div>
  );
};

/** Sets the title of the document, which tabs and screen readers show. */
const useTitle = (title: string): void => {
  const name = team.value;
  useEffect(() => {
    document.title = [title, name, "teamlog"].filter((part) => part !== "").join(" · ");
  }, [title, name]);
};

const Main = (): JSX.Element => {
  const { panel: id, team: name } = route.value;
  const panel = panelOf(name === "" ? "teams" : id, name === "");
  useTitle(panel?.title ?? "");
  // If the address names another team or panel, the panel is created again. If only the query changes, the panel is
  // kept.
  if (panel === undefined) return <main><Panel title="There is no such panel">Nothing here is called <Text value={id} max={80} fixed />.</Panel></main>;
  const Shown = panel.component;
  return <main><Shown key={`${name}/${panel.id}`} /></main>;
};

const useGlobalKeys = (): void => {
  const followed: Record<string, () => void> = {};
  for (const panel of panels) {
    if (panel.key !== undefined && !(panel.root ?? false)) followed[panel.key] = () => go({ panel: panel.id, rest: [] });
  }
  useKeys({
    "?": () => open("keys"),
    "Ctrl-K": (event) => {
      event.preventDefault();
      open("palette");
    },
    End: (event) => {
      if (at.value === null) return;
      event.preventDefault();
      setAt(null);
    },
    t: () => {
      timeForm.value = TIME_FORMS[(TIME_FORMS.indexOf(timeForm.value) + 1) % TIME_FORMS.length] ?? "relative";
    },
    g: () => {
      const listen = (event: KeyboardEvent): void => {
        const leave = followed[event.key];
        if (leave !== undefined && team.peek() !== "") {
          event.preventDefault();
          event.stopPropagation();
          leave();
        }
        end();
      };
      const end = (): void => {
        window.removeEventListener("keydown", listen, true);
        clearTimeout(timer);
      };
      const timer = setTimeout(end, 1200);
      window.addEventListener("keydown", listen, true);
    },
  });
};

export const Shell = ({ problem }: { problem: string | null }): JSX.Element => {
  useGlobalKeys();
  if (session.value === null) return <SignIn problem={problem} />;
  const inTeam = route.value.team !== "";
  return (
    <div class="page">
      <Header />
      {(signedOut.value || !reachable.value) && <SignedOut />}
      <div class={inTeam ? "columns" : "columns alone"}>
        {inTeam && <Navigation key={team.value} />}
        <div class="content">
          {inTeam && <AsOf />}
          {inTeam && bars.map((Bar, index) => <Bar key={index} />)}
          {inTeam || isRoot.value ? <Main /> : <main />}
        </div>
      </div>
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "keys" && <KeyList />}
    </div>
  );
};
