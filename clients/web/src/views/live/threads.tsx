// What each thread does now, or did for most of the window that is held, and lately.
import { LiveThreadState, type LiveThreadRow } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Name } from "../../ui/bits.js";
import type { Feed } from "./feed.js";
import { LANE, laneOf } from "./lanes.js";

const STATE_TEXT: Readonly<Record<string, string>> = {
  [LiveThreadState.runs]: "runs",
  [LiveThreadState.waits]: "waits",
  [LiveThreadState.idle]: "idle",
  [LiveThreadState.unknown]: "unknown",
  [LiveThreadState.ended]: "ended",
};
const PAST_TEXT: Readonly<Record<string, string>> = {
  [LiveThreadState.runs]: "ran",
  [LiveThreadState.waits]: "waited",
  [LiveThreadState.idle]: "idle",
  [LiveThreadState.unknown]: "unknown",
};

export function Lanes({
  feed,
  threads,
  left,
  at,
  onMethod,
}: {
  feed: Feed;
  threads: readonly LiveThreadRow[];
  left: number | undefined;
  /** The time that is looked at; undefined: now. */
  at: number | undefined;
  onMethod: (row: number) => void;
}) {
  // Of a time further back than the pictures that are kept there are no lanes.
  const past = at === undefined ? feed.past : feed.past.filter((one) => one.time <= at);
  const lately = past.length > 1;
  const from = past[0]?.time ?? 0;
  const span = Math.max(1, (past.at(-1)?.time ?? 1) - from);
  const place = (time: number) => ((time - from) / span) * LANE.width;
  return (
    <section class="live-lanes" aria-label="Threads">
      <table>
        <thead>
          <tr>
            <th scope="col">Thread</th>
            <th scope="col">{at === undefined ? "Now" : "Mostly"}</th>
            {lately && <th scope="col">Lately</th>}
          </tr>
        </thead>
        <tbody>
          {threads.map((row) => {
            const plot = row.method === undefined ? -1 : (feed.city.value?.rowOf.get(row.method) ?? -1);
            return (
              <tr key={row.thread} title={shown(row.text)}>
                <th scope="row">
                  <Name text={row.name === "" ? `thread ${row.thread}` : row.name} />
                </th>
                <td>
                  <span class={`tag state ${row.state}`}>
                    {row.samples !== undefined && at === undefined && row.state === LiveThreadState.runs
                      ? "seen in"
                      : ((at === undefined ? STATE_TEXT : PAST_TEXT)[row.state] ?? row.state)}
                  </span>
                  {row.label !== undefined && row.label !== "" && (
                    <button type="button" class="link" disabled={plot < 0} onClick={() => onMethod(plot)}>
                      <Name text={row.label} />
                    </button>
                  )}
                </td>
                {lately && (
                  <td>
                    <svg
                      class="lane"
                      viewBox={`0 0 ${LANE.width} ${LANE.height}`}
                      preserveAspectRatio="none"
                      aria-hidden="true"
                    >
                      <defs>
                        <pattern id={`lane-wait-${row.thread}`} width="6" height="6" patternUnits="userSpaceOnUse">
                          <path class="lane-stripe" d="M-1 7L7 -1" />
                        </pattern>
                      </defs>
                      {laneOf(past, row.thread).map((run) => (
                        <rect
                          key={run.from}
                          class={run.state}
                          x={place(run.from)}
                          width={Math.max(0.5, place(run.to) - place(run.from))}
                          y={run.state === LiveThreadState.idle ? LANE.height / 2 - 1 : 1}
                          height={run.state === LiveThreadState.idle ? 2 : LANE.height - 2}
                          fill={run.state === LiveThreadState.waits ? `url(#lane-wait-${row.thread})` : undefined}
                        />
                      ))}
                    </svg>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {threads.length === 0 && <p class="muted live-none">No thread has a method open.</p>}
      {left !== undefined && left > 0 && <p class="muted live-none">{left.toLocaleString("en")} more threads.</p>}
    </section>
  );
}
