// Use of storage: the chain of segments, the disk and the backups.

import { bytes } from "./bytes.ts";
import { commandOf, CopyCommand, Empty, Failed, Shown, useRead, When } from "../page.tsx";

interface StorageRead {
  disk?: { free_bytes: number; total_bytes: number } | null;
  log: {
    format: string;
    bytes: number;
    segments: { file: string; first_seq: number; last_seq: number; bytes: number; sealed: boolean }[];
  };
  derived_bytes: number;
  backups: { path: string; taken_at: string; last_seq: number; bytes: number }[];
  backups_unreadable?: { path: string; why: string }[];
}

export function Storage() {
  const { data, error, reload } = useRead<StorageRead>("/v1/storage", {}, { always: true, every: 30_000 });
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <section class="part" aria-busy="true" />;
  const { disk, log, backups } = data;
  return (
    <>
      <section class="part">
        <h2>Chain of segments</h2>
        <p class="summary">
          {log.segments.length} {log.segments.length === 1 ? "segment" : "segments"} in {log.format}, {bytes(log.bytes)}
          . Each holds the digest of the one before it.
        </p>
        <ol class="chain" tabIndex={0} aria-label="Segments, the oldest first">
          {log.segments.map((segment) => (
            <li key={segment.file} class={segment.sealed ? "link-sealed" : "link-active"}>
              <b>
                <Shown text={segment.file} />
              </b>
              <span>
                #{segment.first_seq.toLocaleString("en")} to #{segment.last_seq.toLocaleString("en")}
              </span>
              <span class="mild">
                {bytes(segment.bytes)}, {segment.sealed ? "▪ sealed" : "▸ grows"}
              </span>
            </li>
          ))}
        </ol>
      </section>
      <div class="two">
        <section class="part">
          <h2>Disk</h2>
          {disk ? <Disk free={disk.free_bytes} total={disk.total_bytes} /> : <p>The free space cannot be read here.</p>}
          <p class="mild">
            The log takes {bytes(log.bytes)}, what is derived from it {bytes(data.derived_bytes)}.
          </p>
        </section>
        <section class="part">
          <header class="part-head">
            <h2>Backups</h2>
            <CopyCommand line={commandOf("backup", "TEAM", backups[0]?.path ?? "../backups")} />
          </header>
          {data.backups_unreadable?.map((backup) => (
            <p key={backup.path} class="warned">
              ! <Shown text={backup.path} />: <Shown text={backup.why} />
            </p>
          ))}
          {backups.length === 0 ? (
            <Empty title="No backup" command={commandOf("backup", "TEAM", "../backups")}>
              The daemon knows of no backup of this team.
            </Empty>
          ) : (
            <ul class="backups">
              {backups.map((backup) => (
                <li key={`${backup.path} ${backup.taken_at}`}>
                  <b>
                    <Shown text={backup.path} />
                  </b>{" "}
                  up to #{backup.last_seq.toLocaleString("en")}, {bytes(backup.bytes)},{" "}
                  <span class="mild">
                    <When time={backup.taken_at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
    </>
  );
}

function Disk({ free, total }: { free: number; total: number }) {
  const low = free < total / 20;
  return (
    <label class="progress">
      <meter min={0} max={total} high={total * 0.9} value={total - free} aria-label="Disk used" />
      <span class={low ? "warned" : ""}>
        {low && "! "}
        {bytes(free)} free of {bytes(total)}
      </span>
    </label>
  );
}
