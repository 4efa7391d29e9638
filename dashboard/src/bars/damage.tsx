// The bar for a damaged log, above every panel, with the commands that check and repair the log.

import type { JSX } from "preact";
import type { Verification } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { Command, commandOf } from "../ui/command.tsx";
import { Link } from "../ui/parts.tsx";
import { Text } from "../ui/text.tsx";

const Damage = (): JSX.Element | null => {
  const { data, error } = useQuery<Verification>("/v1/verify", {}, { every: 5000, always: true });
  if (data?.ok !== false && error?.code !== "damaged") return null;
  const problem = data?.problems[0];
  const why = problem === undefined ? error?.message : `${problem.file} at byte ${problem.offset}: ${problem.message}`;
  return (
    <div class="failure" role="alert">
      <strong>The log of this team is damaged.</strong> {why !== undefined && <Text value={why} max={240} />}{" "}
      <Link to={{ panel: "integrity" }}>What was found</Link>
      <p class="line">To see what can be saved: <Command command={commandOf("doctor", "check", "TEAM")} /></p>
      <p class="line">To repair the log; unreadable events are left out, and the original is kept: <Command command={commandOf("rehydrate", "TEAM", "--salvage")} /></p>
    </div>
  );
};

export const bar = Damage;
