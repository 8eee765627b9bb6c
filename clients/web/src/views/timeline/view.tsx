// When things ran: the load of every thread, flame charts of those that are chosen, and a window of time that a drag makes
// the filter of every other view.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HeatMapRequest, TimelineRequest, type TimelineResult, type TimelineTrack } from "../../../../shared/ts/psp.js";
import { canvasSurface, prepare, releaser, watchScreen, type Screen } from "../../draw/canvas.js";
import { shown } from "../../draw/shown.js";
import { rulerOf } from "../../draw/text.js";
import { go } from "../../state/state.js";
import { keepWindow, keptOf, type Span } from "../../state/windows.js";
import { Busy, Notes } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { useKeys } from "../../ui/keys.js";
import type { Point } from "../../ui/menu.js";
import { OverTime, PointTip, specOverTime, useLookedAt, WindowTools } from "../../ui/overtime.js";
import { inkOf, useTheme } from "../../ui/theme.js";
import { NoteTracks, useNotes } from "./notetracks.js";
import { findIn, heightOf, paintTrack, type Found } from "./picture.js";
import { held, lengthOf, marksOf, moved, rounded, zoomed } from "./span.js";

const MARK_ROOM = 110;
/** Shorter drags are clicks. */
const LEAST_DRAG = 4;

export function TimelineView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const known = app.can(TimelineRequest.method);
  const notes = useNotes();
  const box = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen>({ width: 0, height: 0, ratio: 1 });
  const [charts, setCharts] = useState<readonly number[] | undefined>(undefined);
  const [listed, setListed] = useState(30);
  const [drag, setDrag] = useState<Span | undefined>(undefined);
  const [found, setFound] = useState<{ found: Found; at: Point } | undefined>(undefined);

  // Another profile or revision has other tracks.
  const [wanted, setWanted] = useLookedAt(() => setCharts(undefined));
  const answer = useAnswer(
    TimelineRequest,
    profile === undefined || !known || screen.width === 0
      ? undefined
      : {
          profile: profile.handle,
          spec: specOverTime(place, profile),
          ...(wanted ?? {}),
          width: screen.width,
          columns: Math.min(4000, Math.max(20, Math.round(screen.width / 3))),
          tracks: listed,
          maxBoxes: 4000,
          ...(charts === undefined ? {} : { charts: [...charts], revision: profile.revision }),
          panelId: "timeline",
        },
  );
  // What was said of another profile is no picture of this one.
  const shownNow = answer.value?.profile === profile?.handle ? answer.value : undefined;
  const none = answer.error !== undefined && shownNow === undefined;
  const all: Span | undefined = shownNow === undefined ? undefined : { from: shownNow.begin, to: shownNow.end };
  const span: Span | undefined =
    shownNow === undefined || all === undefined ? undefined : (wanted ?? { from: shownNow.from, to: shownNow.to });
  const kept = all === undefined ? undefined : keptOf(place.chips, all);
  const chosen = charts ?? shownNow?.charts.map((chart) => chart.track) ?? [];

  // A box that goes, as where there is no timeline, has no width any more: it is no question to ask again.
  const measured = (next: Screen) => setScreen((old) => (next.width === 0 ? old : next));
  useEffect(() => (box.current === null ? undefined : watchScreen(box.current, measured)), [known, none]);

  // Somebody was sent here to see something.
  const sent = app.lookAt.value;
  useEffect(() => {
    if (sent === undefined || all === undefined) return;
    app.lookAt.value = undefined;
    look(sent);
  }, [sent, all?.from, all?.to]);

  const keep = (window: Span | undefined) => app.update((state) => keepWindow(state, window));
  const look = (next: Span) => {
    if (all === undefined) return;
    const window = held(next, all);
    setFound(undefined);
    setWanted(lengthOf(window) >= lengthOf(all) ? undefined : window);
  };
  const timeAt = (x: number) => (span === undefined ? 0 : span.from + (x / Math.max(1, screen.width)) * lengthOf(span));
  const xOf = (event: { clientX: number }) => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);

  const onWheel = (event: WheelEvent) => {
    if (span === undefined || all === undefined) return;
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      look(zoomed(span, all, timeAt(xOf(event)), Math.exp(-event.deltaY * 0.004)));
    } else if (Math.abs(sideways) > 0) {
      event.preventDefault();
      look(moved(span, all, sideways / Math.max(1, screen.width)));
    }
  };
  const wheel = useRef(onWheel);
  wheel.current = onWheel;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    // Only a listener that says so may keep the page from scrolling.
    const listen = (event: WheelEvent) => wheel.current(event);
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, [none]);

  const closer = (factor: number) => {
    if (span !== undefined && all !== undefined) look(zoomed(span, all, (span.from + span.to) / 2, factor));
  };
  const along = (part: number) => {
    if (span !== undefined && all !== undefined) look(moved(span, all, part));
  };
  useKeys({
    title: "Timeline",
    keys: [
      { keys: ["+", "="], shown: "+", text: "closer", run: () => closer(2) },
      { keys: ["-"], text: "wider", run: () => closer(0.5) },
      { keys: ["ArrowLeft", "h"], text: "earlier", run: () => along(-0.2) },
      { keys: ["ArrowRight", "l"], text: "later", run: () => along(0.2) },
      { keys: ["Home", "0"], text: "everything", run: () => setWanted(undefined) },
      // Where there is nothing to keep, and nothing to let go, they are what they are elsewhere.
      ...(wanted === undefined
        ? []
        : [{ keys: ["Enter"], text: "keep what is on the screen, in every view", run: () => keep(span) }]),
      ...(kept === undefined || place.search !== ""
        ? []
        : [{ keys: ["Escape"], text: "let go of the window that is kept", run: () => keep(undefined) }]),
    ],
  });

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0 || span === undefined || all === undefined) return;
    const start = xOf(event);
    const element = event.currentTarget as HTMLElement;
    element.setPointerCapture(event.pointerId);
    const windowTo = (x: number): Span | undefined =>
      Math.abs(x - start) < LEAST_DRAG
        ? undefined
        : held(
            rounded(
              { from: timeAt(Math.min(start, x)), to: timeAt(Math.max(start, x)) },
              lengthOf(span) / Math.max(1, screen.width),
            ),
            all,
          );
    const move = (next: PointerEvent) => setDrag(windowTo(xOf(next)));
    const up = (next: PointerEvent) => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", up);
      setDrag(undefined);
      const window = next.type === "pointerup" ? windowTo(xOf(next)) : undefined;
      if (window !== undefined) keep(window);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
  };

  const toggle = (track: TimelineTrack) =>
    setCharts(chosen.includes(track.id) ? chosen.filter((id) => id !== track.id) : [...chosen, track.id].slice(-16));

  return (
    <OverTime name="timeline" known={known} error={none ? answer.error : undefined}>
      <div class="timeline">
        <div class="timeline-head">
          <strong>{shownNow === undefined || span === undefined ? " " : shown(shownNow.windowText)}</strong>
          <span class="muted">{shownNow === undefined ? "" : shown(shownNow.basis)}</span>
          <span class="timeline-tools">
            <button type="button" disabled={span === undefined} onClick={() => closer(2)}>
              Closer
            </button>
            <button type="button" disabled={wanted === undefined} onClick={() => closer(0.5)}>
              Wider
            </button>
            <WindowTools
              kept={kept}
              wanted={wanted}
              onLook={(next) => (next === undefined ? setWanted(undefined) : look(next))}
              onKeep={keep}
            />
            {notes.markers && (
              <button type="button" onClick={() => app.update((state) => go(state, { view: "markers" }))}>
                Markers
              </button>
            )}
            {app.can(HeatMapRequest.method) && (
              <button type="button" onClick={() => app.update((state) => go(state, { view: "heatmap" }))}>
                Heat map
              </button>
            )}
          </span>
        </div>
        <div class="timeline-scroll">
          <div class="timeline-rows">
            <div class="timeline-names" aria-hidden="true" />
            <div
              class="timeline-plot"
              ref={box}
              tabIndex={0}
              role="group"
              aria-label="Timeline. Plus and minus zoom, arrows move, Enter keeps what is shown as a filter, Escape takes it back."
              onPointerDown={onPointerDown}
              onPointerLeave={() => setFound(undefined)}
            >
              {shownNow !== undefined && span !== undefined && (
                <>
                  <Axis span={span} width={screen.width} />
                  <NoteTracks span={span} screen={screen} onFound={setFound} onOpen={look} />
                  {shownNow.tracks.map((track) => (
                    <Track
                      key={track.id}
                      answer={shownNow}
                      track={track}
                      span={span}
                      screen={screen}
                      isChosen={chosen.includes(track.id)}
                      onName={() => toggle(track)}
                      onFound={setFound}
                      onOpen={(window) => look(window)}
                    />
                  ))}
                  {[drag ?? kept].map(
                    (window) =>
                      window !== undefined && <Shade key="window" window={window} span={span} width={screen.width} />,
                  )}
                </>
              )}
            </div>
          </div>
          {shownNow === undefined && <Busy text="Drawing" />}
          {shownNow?.left !== undefined && (
            <p class="muted timeline-rest">
              {shown(shownNow.left.text)}{" "}
              <button type="button" onClick={() => setListed((n) => Math.min(1000, n * 3))}>
                Show more threads
              </button>
            </p>
          )}
          <Notes
            texts={[
              answer.error,
              shownNow?.excluded?.text,
              ...(shownNow?.charts ?? []).flatMap((chart) => chart.notes ?? []),
              ...(shownNow?.warnings ?? []),
            ]}
          />
        </div>
        {found !== undefined && drag === undefined && (
          <PointTip name={shown(found.found.name)} note={shown(found.found.text)} at={found.at} />
        )}
      </div>
    </OverTime>
  );
}

/** A mark nearer to the edge has no room for its text. */
const MARK_TEXT = 60;

function Axis({ span, width }: { span: Span; width: number }) {
  const part = (at: number) => (at - span.from) / lengthOf(span);
  const marks = marksOf(span, (lengthOf(span) / Math.max(1, width)) * MARK_ROOM);
  return (
    <div class="timeline-axis" aria-hidden="true">
      {marks.map(({ at, text }) => (
        <span key={at} style={{ left: `${part(at) * 100}%` }}>
          {(1 - part(at)) * width < MARK_TEXT ? "" : text}
        </span>
      ))}
    </div>
  );
}

/** What is not in the window steps back. */
function Shade({ window, span, width }: { window: Span; span: Span; width: number }) {
  const x = (time: number) => Math.min(width, Math.max(0, ((time - span.from) / lengthOf(span)) * width));
  return (
    <div class="timeline-shade" aria-hidden="true">
      <i style={{ left: "0", width: `${x(window.from)}px` }} />
      <i style={{ left: `${x(window.to)}px`, width: `${width - x(window.to)}px` }} />
    </div>
  );
}

function Track(props: {
  answer: TimelineResult;
  track: TimelineTrack;
  span: Span;
  screen: Screen;
  isChosen: boolean;
  onName: () => void;
  onFound: (found: { found: Found; at: Point } | undefined) => void;
  onOpen: (span: Span) => void;
}) {
  const { answer, track, span, screen } = props;
  const app = useApp();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = props.isChosen ? answer.charts.find((one) => one.track === track.id) : undefined;
  const height = heightOf(chart);
  const picture = { answer, track, chart, span, width: screen.width };
  const { palette } = app.settings.value;
  useEffect(() => releaser(canvas), []);
  useLayoutEffect(() => {
    if (canvas.current === null || screen.width === 0) return;
    const context = prepare(canvas.current, { width: screen.width, height, ratio: screen.ratio }, { alpha: true });
    if (context === undefined) return;
    context.clearRect(0, 0, screen.width, height);
    context.font = `12px ${theme.font}`;
    const ruler = rulerOf((text) => context.measureText(text).width);
    paintTrack(picture, canvasSurface(context, screen.ratio), {
      ink: inkOf(theme),
      accent: theme.accent,
      palette,
      ruler,
    });
  }, [answer, track, chart, span.from, span.to, screen, theme, palette, height]);
  const at = (event: MouseEvent): Found | undefined => {
    const bounds = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return findIn(picture, event.clientX - bounds.left, event.clientY - bounds.top);
  };
  return (
    <div class="timeline-track" style={{ height: `${height}px` }}>
      <button
        type="button"
        class="timeline-name"
        aria-pressed={props.isChosen}
        title={`${shown(track.name)}: flame chart`}
        onPointerDown={(event) => event.stopPropagation()}
        onClick={props.onName}
      >
        <span class="timeline-name-text">{shown(track.name)}</span>
        <span class="muted">{track.loadText}</span>
      </button>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${track.name}: ${track.loadText}, ${track.amount.text}`}
        onPointerMove={(event) => {
          const found = at(event);
          props.onFound(found === undefined ? undefined : { found, at: { x: event.clientX, y: event.clientY } });
        }}
        onDblClick={(event) => {
          const found = at(event);
          if (found?.span === undefined) return;
          const room = 0.1 * lengthOf(found.span);
          props.onOpen({ from: found.span.from - room, to: found.span.to + room });
        }}
      />
    </div>
  );
}
