// Markers and counters as tracks of the timeline.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  CountersRequest,
  MarkerTracksRequest,
  type CountersResult,
  type MarkerTracksResult,
} from "../../../../shared/ts/psp.js";
import { canvasSurface, prepare, releaser, type Screen } from "../../draw/canvas.js";
import type { Surface } from "../../draw/paint.js";
import { shown } from "../../draw/shown.js";
import { rulerOf } from "../../draw/text.js";
import { specOf } from "../../state/place.js";
import { specText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { withoutWindows, type Span } from "../../state/windows.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { inkOf, useTheme } from "../../ui/theme.js";
import type { Point } from "../../ui/menu.js";
import type { Found } from "./picture.js";
import {
  COUNTER_HEIGHT,
  counterAt,
  markerAt,
  markerHeight,
  paintCounter,
  paintMarkers,
  type FoundNote,
  type Sight,
} from "./notes.js";

const FEW_MARKERS = 3;
const FEW_COUNTERS = 3;
const MANY = 60;

interface Shared {
  readonly span: Span;
  readonly screen: Screen;
  readonly onFound: (found: { found: Found; at: Point } | undefined) => void;
  readonly onOpen: (span: Span) => void;
}

/** Whether the profile has markers: its own, or steps of asynchronous work, which are listed with them. */
export function useNotes(): { readonly markers: boolean; readonly counters: boolean } {
  const app = useApp();
  const counts = useProfile()?.summary.timeline;
  return {
    markers:
      app.can(MarkerTracksRequest.method) && ((counts?.markers.value ?? 0) > 0 || (counts?.tasks.value ?? 0) > 0),
    counters: app.can(CountersRequest.method) && (counts?.counters.value ?? 0) > 0,
  };
}

export function NoteTracks(props: Shared) {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const has = useNotes();
  const [all, setAll] = useState(false);
  const { span, screen } = props;
  const spec = specOf(place, "topDown");
  const params = {
    profile: profile?.handle ?? "",
    spec: specText({ ...spec, filters: withoutWindows(spec.filters), metric: place.metric || (profile?.metric ?? "") }),
    from: span.from,
    to: span.to,
  };
  const ready = profile !== undefined && screen.width > 0;
  const markers = useAnswer(
    MarkerTracksRequest,
    ready && has.markers
      ? { ...params, width: screen.width, tracks: all ? MANY : FEW_MARKERS, panelId: "markerTracks" }
      : undefined,
  ).value;
  const counters = useAnswer(
    CountersRequest,
    ready && has.counters
      ? {
          ...params,
          columns: Math.min(4000, Math.max(20, Math.round(screen.width))),
          limit: all ? MANY : FEW_COUNTERS,
          panelId: "counters",
        }
      : undefined,
  ).value;
  const own = <R extends { profile: string }>(answer: R | undefined) =>
    answer?.profile === profile?.handle ? answer : undefined;
  const noted = own(markers);
  const counted = own(counters);
  const more = [noted?.leftText, counted?.leftText].filter((text) => text !== undefined);
  return (
    <>
      {noted !== undefined && <MarkerTracks {...props} answer={noted} />}
      {counted !== undefined && <CounterTracks {...props} answer={counted} />}
      {(more.length > 0 || all) && (
        <p class="muted timeline-rest">
          {more.map(shown).join("; ")}{" "}
          <button type="button" onPointerDown={(event) => event.stopPropagation()} onClick={() => setAll(!all)}>
            {all ? "Fewer markers and counters" : "All markers and counters"}
          </button>
        </p>
      )}
    </>
  );
}

function MarkerTracks({ answer, ...shared }: Shared & { answer: MarkerTracksResult }) {
  const app = useApp();
  const theme = useTheme();
  const { palette } = app.settings.value;
  const sight: Sight = { from: answer.from, span: shared.span, width: shared.screen.width };
  return (
    <>
      {answer.tracks.map((track) => {
        const left = track.noLane > 0 ? `, ${track.noLane.toLocaleString("en")} of them not drawn` : "";
        return (
          <NoteTrack
            key={`m${track.name}`}
            {...shared}
            height={markerHeight(track)}
            name={track.name}
            note={`${track.countText}${left}`}
            label={`Markers of ${track.name}: ${track.countText}${left}`}
            hint={`Markers of ${shown(track.name)}, in a table`}
            onName={() => {
              app.markerSearch.value = track.filter === undefined ? "" : `thread:"${track.name.replaceAll('"', "")}"`;
              app.update((state) => go(state, { view: "markers" }));
            }}
            answer={answer}
            paint={(surface, ruler) =>
              paintMarkers(sight, track, answer.names, surface, { ink: inkOf(theme), palette, ruler })
            }
            find={(x, y) => markerAt(sight, track, answer.names, x, y)}
          />
        );
      })}
    </>
  );
}

function CounterTracks({ answer, ...shared }: Shared & { answer: CountersResult }) {
  const theme = useTheme();
  const sight: Sight = { from: answer.from, span: shared.span, width: shared.screen.width };
  return (
    <>
      {answer.counters.map((counter) => (
        <NoteTrack
          key={`c${counter.id}`}
          {...shared}
          height={COUNTER_HEIGHT}
          name={counter.name}
          note={counter.lastText}
          label={`${counter.name}${counter.owner === "" ? "" : ` of ${counter.owner}`}: from ${counter.lowText} to ${counter.highText}`}
          hint={`${shown(counter.name)}${counter.owner === "" ? "" : ` of ${shown(counter.owner)}`}: from ${counter.lowText} to ${counter.highText}${counter.sums ? ", summed up since the beginning" : ""}`}
          answer={answer}
          paint={(surface) => paintCounter(sight, counter, surface, theme.accent, inkOf(theme))}
          find={(x) => counterAt(sight, counter, x)}
        />
      ))}
    </>
  );
}

function NoteTrack(
  props: Shared & {
    height: number;
    name: string;
    note: string;
    label: string;
    hint: string;
    onName?: () => void;
    answer: unknown;
    paint: (surface: Surface, ruler: ReturnType<typeof rulerOf>) => void;
    find: (x: number, y: number) => FoundNote | undefined;
  },
) {
  const { screen, span, height } = props;
  const app = useApp();
  const theme = useTheme();
  const { palette } = app.settings.value;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => releaser(canvas), []);
  useLayoutEffect(() => {
    if (canvas.current === null || screen.width === 0) return;
    const context = prepare(canvas.current, { width: screen.width, height, ratio: screen.ratio }, { alpha: true });
    if (context === undefined) return;
    context.clearRect(0, 0, screen.width, height);
    context.font = `11px ${theme.font}`;
    props.paint(
      canvasSurface(context, screen.ratio),
      rulerOf((text) => context.measureText(text).width),
    );
  }, [props.answer, span.from, span.to, screen, theme, palette, height]);
  const found = (event: MouseEvent) => {
    const bounds = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return props.find(event.clientX - bounds.left, event.clientY - bounds.top);
  };
  const title = (
    <>
      <span class="timeline-name-text">{shown(props.name)}</span>
      <span class="muted">{shown(props.note)}</span>
    </>
  );
  return (
    <div class="timeline-track timeline-note" style={{ minHeight: `${Math.max(20, height)}px` }}>
      {props.onName === undefined ? (
        <div class="timeline-name" title={props.hint}>
          {title}
        </div>
      ) : (
        <button
          type="button"
          class="timeline-name"
          title={props.hint}
          onPointerDown={(event) => event.stopPropagation()}
          onClick={props.onName}
        >
          {title}
        </button>
      )}
      <canvas
        ref={canvas}
        role="img"
        aria-label={props.label}
        onPointerMove={(event) => {
          const note = found(event);
          props.onFound(note === undefined ? undefined : { found: note, at: { x: event.clientX, y: event.clientY } });
        }}
        onDblClick={(event) => {
          const window = found(event)?.span;
          if (window === undefined) return;
          const room = 0.1 * (window.to - window.from) + 1;
          props.onOpen({ from: window.from - room, to: window.to + room });
        }}
      />
    </div>
  );
}
