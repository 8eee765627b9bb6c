// Beside the picture: the hottest methods, threads, the method that is chosen, what a session has been through.
import { useEffect, useRef, useState } from "preact/hooks";
import {
  LiveMethodRequest,
  LiveThreadState,
  type LiveMethodResult,
  type LiveRow,
  type LiveThreadRow,
  type LiveWindowResult,
} from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Name, Share } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { Icon } from "../../ui/icons.js";
import { placeAt } from "../../ui/menu.js";
import { Sparkline } from "../../ui/sparkline.js";
import {
  changeText,
  FLAG,
  shareText,
  signatureOf,
  versionMark,
  wholeName,
  type City,
  type Standing,
  type Versions,
} from "./city.js";
import type { Feed } from "./feed.js";
import { LANE, laneOf, STRIP, stripPath } from "./lanes.js";
import type { Hovered } from "./stage.js";

/** What marks of a method say in words. */
export function marksOf(flags: number, sampled = false): string[] {
  const out: string[] = [];
  if (sampled) {
    if ((flags & FLAG.runs) !== 0) out.push("seen most of late");
  } else if ((flags & FLAG.waits) !== 0) out.push("waits");
  else if ((flags & FLAG.runs) !== 0) out.push("runs now");
  else if ((flags & FLAG.open) !== 0) out.push("on a stack");
  if ((flags & FLAG.demoted) !== 0) out.push("no probes: its time is in its callers");
  return out;
}

export function HotList({
  feed,
  rows,
  left,
  chosen,
  onChoose,
}: {
  feed: Feed;
  rows: readonly LiveRow[];
  left: number | undefined;
  chosen: number;
  onChoose: (row: number) => void;
}) {
  const city = feed.city.value;
  const { before } = feed.standing;
  const compared = feed.against.value.kind !== "none";
  const sampled = rows[0]?.samples !== undefined;
  return (
    <section class={sampled ? "live-hot sampled" : "live-hot"} aria-label="Hottest methods">
      <table>
        <thead>
          <tr>
            {sampled ? (
              <th scope="col" title="By samples: ± is half the interval of 95 %">
                About
              </th>
            ) : (
              <th scope="col">Elevation</th>
            )}
            <th scope="col">Method</th>
            <th scope="col">{compared ? "Change, points" : "Lately"}</th>
            <th scope="col" title="Threads on which it was open in the window">
              Threads
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const plot = city?.rowOf.get(row.method) ?? -1;
            return (
              <tr
                key={row.method}
                aria-current={plot === chosen && plot >= 0 ? "true" : undefined}
                class={plot === chosen && plot >= 0 ? "chosen" : ""}
              >
                <td title={shown(row.text)}>
                  <Share text={row.elevationText} part={row.elevation} />
                </td>
                <td>
                  <button type="button" title={shown(row.name)} disabled={plot < 0} onClick={() => onChoose(plot)}>
                    <Name text={row.label} />
                    {marksOf(row.flags & (FLAG.waits | FLAG.demoted)).map((mark) => (
                      <span class="tag" key={mark}>
                        {mark === "waits" ? mark : "in callers"}
                      </span>
                    ))}
                  </button>
                </td>
                <td class="live-lately">
                  {compared ? (
                    changeText(before[plot] ?? 0, Math.round(row.elevation * 65535)).replace(" points", "")
                  ) : (
                    <Sparkline values={feed.spark(plot)} />
                  )}
                </td>
                <td class="live-number">{row.threads}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="muted live-none">Nothing that is measured ran in this window.</p>}
      {left !== undefined && left > 0 && <p class="muted live-none">{left.toLocaleString("en")} more stand above 0.</p>}
    </section>
  );
}

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

/** A method's own, as the daemon says it; asked again as long as it is shown. */
function useMethod(session: string, method: number | undefined, still: boolean): LiveMethodResult | undefined {
  const app = useApp();
  const [value, setValue] = useState<LiveMethodResult | undefined>(undefined);
  useEffect(() => {
    if (method === undefined) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      app.client.request(LiveMethodRequest, { session, method }, controller.signal).then(
        (answer) => {
          setValue(answer);
          if (!still) timer = setTimeout(ask, 1000);
        },
        () => undefined,
      );
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [session, method, still]);
  return value?.method === method && value?.session === session ? value : undefined;
}

export interface Deeds {
  readonly source: () => void;
  readonly callers: () => void;
  readonly flame: () => void;
  readonly demote: (() => void) | undefined;
  readonly promote: (() => void) | undefined;
  readonly find: () => void;
}

export function MethodCard({
  feed,
  session,
  chosen,
  deeds,
  onClose,
}: {
  feed: Feed;
  session: string;
  chosen: number;
  deeds: Deeds;
  onClose: () => void;
}) {
  const city = feed.city.value!;
  const still = feed.at.value !== undefined;
  const id = city.plots.id[chosen]!;
  const against = feed.against.value;
  // What is gone is known to the version before alone.
  const gone = id === 0 && against.kind === "session";
  const method = useMethod(gone ? against.session : session, gone ? city.plots.before[chosen] : id, still);
  const height = feed.standing.height[chosen] ?? 0;
  const flags = feed.standing.flags[chosen] ?? 0;
  const compared = against.kind !== "none";
  const sampled = feed.frame.value?.estimate !== undefined;
  const signature = signatureOf(city, chosen);
  return (
    <section class="live-card" aria-label="Chosen method">
      <header>
        <h2>
          <Name text={wholeName(city, chosen)} />
        </h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Let go of it"
          title="Let go of it (Escape)"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <p class="live-signature">
        <Name text={signature} />
      </p>
      <p>
        <b>
          {!sampled
            ? shareText(height)
            : `about ${still || method === undefined ? shareText(height) : method.elevationText}`}
        </b>{" "}
        of the window, Thread Num {feed.standing.threads[chosen] ?? 0}
        {!still && method !== undefined && method.calls > 0 && (
          <>
            , {method.calls.toLocaleString("en")} {sampled ? "samples" : "calls"}
          </>
        )}
        {marksOf(flags, sampled).map((mark) => (
          <span class="tag" key={mark}>
            {mark}
          </span>
        ))}
      </p>
      {compared && <p>{changeText(feed.standing.before[chosen] ?? 0, height)} against what it is compared with</p>}
      {feed.versions.value?.added[chosen] === 1 && <p>[A] The version before does not have it.</p>}
      {gone && <p>[D] Only the version before has it.</p>}
      {method !== undefined && (
        <p class="muted">
          {shown(method.total)}
          {method.file !== undefined && (
            <>
              {" · "}
              <Name text={method.line === undefined ? method.file : `${method.file}:${method.line}`} />
            </>
          )}
        </p>
      )}
      {method !== undefined && method.history.height.length > 1 && (
        <div class="live-history">
          <Sparkline values={method.history.height} />
          <span class="muted">since the session began</span>
        </div>
      )}
      <div class="row">
        <button type="button" class="button" onClick={deeds.source} title="Its source (g)">
          Source
        </button>
        <button type="button" class="button" onClick={deeds.callers} title="Who calls it, and whom it calls (c)">
          Callers
        </button>
        <button type="button" class="button" onClick={deeds.flame} title="Flame graph of the session (f)">
          Flame graph
        </button>
        <button type="button" class="button quiet" onClick={deeds.find} title="Where it stands (Enter)">
          Show
        </button>
        {deeds.demote !== undefined && (flags & FLAG.demoted) === 0 && (
          <button
            type="button"
            class="button quiet"
            onClick={deeds.demote}
            title="Its probes are taken out: its time goes to its callers"
          >
            No probes
          </button>
        )}
        {deeds.promote !== undefined && (flags & FLAG.demoted) !== 0 && (
          <button type="button" class="button quiet" onClick={deeds.promote} title="It gets its probes back">
            Probes again
          </button>
        )}
      </div>
    </section>
  );
}

export function CityTooltip({
  city,
  standing,
  hovered,
  versions,
  sampled,
}: {
  city: City;
  standing: Standing;
  hovered: Hovered;
  versions: Versions | undefined;
  sampled: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { hit, x, y } = hovered;
  useEffect(() => {
    const stage = document.querySelector(".city-stage")?.getBoundingClientRect();
    if (box.current !== null)
      placeAt(
        box.current,
        { x: (stage?.left ?? 0) + x + 14, y: (stage?.top ?? 0) + y + 18 },
        (stage?.top ?? 0) + y - 10,
      );
  });
  if (hit.plot >= 0) {
    const version = { "[A] ": "[A] new in this version", "[D] ": "[D] gone from this version" }[
      versionMark(versions, hit.plot)
    ];
    const marks = [...(version === undefined ? [] : [version]), ...marksOf(standing.flags[hit.plot]!, sampled)];
    return (
      <div class="tooltip" ref={box} aria-hidden="true">
        <div class="tooltip-name">
          <Name text={signatureOf(city, hit.plot)} />
        </div>
        <div class="tooltip-place">
          <Name text={city.blocks.name[hit.block] ?? ""} />
        </div>
        <dl class="tooltip-values">
          <dt>elevation</dt>
          <dd>{`${sampled ? "about " : ""}${shareText(standing.height[hit.plot]!)}`}</dd>
          <dt>Thread Num</dt>
          <dd>{standing.threads[hit.plot]}</dd>
        </dl>
        {standing.before[hit.plot] !== 0 && (
          <div class="tooltip-change">{changeText(standing.before[hit.plot]!, standing.height[hit.plot]!)}</div>
        )}
        {marks.length > 0 && <div class="tooltip-note">{marks.join(" · ")}</div>}
      </div>
    );
  }
  const block = hit.block >= 0;
  const name = block ? city.blocks.name[hit.block]! : (city.districts.name[hit.district] ?? "");
  if (name === "") return null;
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      <div class="tooltip-name">
        <Name text={name} />
      </div>
      <div class="tooltip-note">{block ? `class, ${city.blocks.plots[hit.block]} methods` : "package"}</div>
    </div>
  );
}

/** All of the session's time: a click or the arrow keys look at another window of it. */
export function Strip({
  window,
  end,
  length,
  at,
  text,
  onSeek,
}: {
  window: LiveWindowResult | undefined;
  end: number;
  length: number;
  at: number;
  text: string;
  onSeek: (time: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const down = useRef(false);
  const strip = window?.strip;
  const whole = Math.max(end, strip === undefined ? 0 : strip.begin + strip.step * strip.busy.length, 1);
  const x = (time: number) => (time / whole) * STRIP.width;
  const seek = (event: PointerEvent) => {
    const rect = box.current!.getBoundingClientRect();
    onSeek(Math.max(0, Math.min(1, (event.clientX - rect.left) / Math.max(1, rect.width))) * whole);
  };
  const covered = strip === undefined ? 0 : strip.step * strip.busy.length;
  const most = Math.max(1e-9, ...(strip?.busy ?? []));
  const running = (strip?.busy ?? []).map((busy, i) => busy - (strip?.waiting?.[i] ?? 0));
  return (
    <div
      class="live-strip"
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label="Time that is looked at"
      aria-valuemin={0}
      aria-valuemax={Math.round(whole / 1e6)}
      aria-valuenow={Math.round(at / 1e6)}
      aria-valuetext={text}
      onPointerDown={(event) => {
        down.current = true;
        box.current!.setPointerCapture(event.pointerId);
        seek(event);
      }}
      onPointerMove={(event) => {
        if (down.current) seek(event);
      }}
      onPointerUp={() => (down.current = false)}
      onPointerCancel={() => (down.current = false)}
      onKeyDown={(event) => {
        const step = { ArrowLeft: -length / 10, ArrowRight: length / 10, PageDown: -length, PageUp: length }[event.key];
        if (step !== undefined) onSeek(at + step);
        else if (event.key === "Home") onSeek(length);
        else if (event.key === "End") onSeek(whole);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <svg viewBox={`0 0 ${STRIP.width} ${STRIP.height}`} preserveAspectRatio="none" aria-hidden="true">
        {strip !== undefined && (
          <g transform={`translate(${x(strip.begin)} 0) scale(${covered / whole} 1)`}>
            <path class="strip-waiting" d={stripPath(strip.busy, most)} />
            <path class="strip-busy" d={stripPath(running, most)} />
            {strip.lost.map((lost, i) =>
              lost === 0 ? null : (
                <rect
                  class="strip-lost"
                  key={i}
                  x={(i * STRIP.width) / strip.lost.length}
                  y={0}
                  width={Math.max(2, STRIP.width / strip.lost.length)}
                  height={4}
                />
              ),
            )}
          </g>
        )}
        <rect
          class="strip-window"
          x={x(Math.max(0, at - length))}
          y={0}
          width={Math.max(3, x(Math.min(length, at)))}
          height={STRIP.height}
        />
      </svg>
      {window?.marks.map((mark) => (
        <span
          class="strip-mark"
          key={`${mark.time} ${mark.name}`}
          title={`${shown(mark.name)}, ${mark.timeText}`}
          style={{ left: `${(mark.time / whole) * 100}%` }}
        />
      ))}
    </div>
  );
}
