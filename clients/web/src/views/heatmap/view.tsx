// When things happened, to the part of a second: a column is a second or another step, time goes up in it. A drag from
// one cell to another makes what lies between them in time the window of every other view.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HeatMapRequest, type HeatMapResult } from "../../../../shared/ts/psp.js";
import { canvasSurface, prepare, releaser, watchScreen, type Screen } from "../../draw/canvas.js";
import { shown } from "../../draw/shown.js";
import { filterText } from "../../state/spec.js";
import { go } from "../../state/state.js";
import { keepWindow, keptOf, windowOf, type Span } from "../../state/windows.js";
import { Busy, Notes } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import type { Point } from "../../ui/menu.js";
import { OverTime, PointTip, specOverTime, useLookedAt, WindowTools } from "../../ui/overtime.js";
import { inkOf, useTheme } from "../../ui/theme.js";
import { marksOf } from "../timeline/span.js";
import { cellAt, columnsIn, gridOf, heightOf, momentOf, paintGrid, spanOf, widthOf, type Grid } from "./grid.js";

const MARK_ROOM = 90;
const ROW_MARKS = 22;

export function HeatMapView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const known = app.can(HeatMapRequest.method);
  const box = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen>({ width: 0, height: 0, ratio: 1 });
  const [drag, setDrag] = useState<Span | undefined>(undefined);
  const [cursor, setCursor] = useState<{ cell: number; from: number } | undefined>(undefined);
  const [found, setFound] = useState<{ cell: number; at: Point } | undefined>(undefined);

  const [wanted, setWanted] = useLookedAt(() => setCursor(undefined));
  const answer = useAnswer(
    HeatMapRequest,
    profile === undefined || !known || screen.width === 0
      ? undefined
      : {
          profile: profile.handle,
          spec: specOverTime(place, profile),
          ...(wanted ?? {}),
          columns: columnsIn(screen.width),
          panelId: "heatMap",
        },
  );
  const map = answer.value?.profile === profile?.handle ? answer.value : undefined;
  const none = answer.error !== undefined;
  useEffect(() => (box.current === null ? undefined : watchScreen(box.current, setScreen)), [known, none]);
  const kept = map === undefined ? undefined : keptOf(place.chips, { from: map.begin, to: map.end });
  const keep = (window: Span | undefined) => app.update((state) => keepWindow(state, window));
  const grid = map === undefined ? undefined : gridOf(map, screen.width, Math.max(200, screen.height - 60));

  return (
    <OverTime name="heat map" known={known} error={answer.error}>
      <div class="timeline heatmap">
        <div class="timeline-head">
          <strong>{map === undefined ? " " : `${map.held.text} ${shown(map.metric)}`}</strong>
          <span class="muted">{map === undefined ? "" : `${shown(map.basis)} Most in a cell: ${map.fullText}.`}</span>
          <span class="timeline-tools">
            <WindowTools kept={kept} wanted={wanted} onLook={setWanted} onKeep={keep} />
            <button type="button" onClick={() => app.update((state) => go(state, { view: "timeline" }))}>
              Timeline
            </button>
          </span>
        </div>
        <div class="heatmap-room">
          <div class="heatmap-plot" ref={box}>
            {grid === undefined ? (
              <Busy text="Counting" />
            ) : (
              <Plot
                grid={grid}
                screen={screen}
                window={drag ?? kept}
                cursor={cursor}
                setCursor={setCursor}
                onDrag={setDrag}
                onKeep={keep}
                onFound={setFound}
              />
            )}
          </div>
        </div>
        {map !== undefined && <Notes texts={[map.excluded?.text, ...(map.warnings ?? [])]} />}
        {found !== undefined && grid !== undefined && drag === undefined && (
          <PointTip
            name={cellText(grid, found.cell)}
            note={filterText(windowOf(spanOf(grid, found.cell, found.cell)))}
            at={found.at}
          />
        )}
      </div>
    </OverTime>
  );
}

const cellText = (grid: Grid, cell: number) => {
  const { answer } = grid;
  if (momentOf(grid, cell + 1) <= answer.begin) return "before the profile begins";
  return momentOf(grid, cell) >= answer.end ? "after the end of the profile" : answer.texts[answer.text[cell]!]!;
};

function Plot(props: {
  grid: Grid;
  screen: Screen;
  window: Span | undefined;
  cursor: { cell: number; from: number } | undefined;
  setCursor: (cursor: { cell: number; from: number } | undefined) => void;
  onDrag: (window: Span | undefined) => void;
  onKeep: (window: Span | undefined) => void;
  onFound: (found: { cell: number; at: Point } | undefined) => void;
}) {
  const { grid, screen, cursor } = props;
  const { answer } = grid;
  const app = useApp();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focused, setFocused] = useState(false);
  const width = widthOf(grid);
  const height = heightOf(grid);
  // A selection by keys is seen before it is kept.
  const chosen =
    cursor !== undefined && cursor.cell !== cursor.from ? spanOf(grid, cursor.cell, cursor.from) : props.window;
  useEffect(() => releaser(canvas), []);
  useLayoutEffect(() => {
    if (canvas.current === null || width === 0) return;
    const context = prepare(canvas.current, { width, height, ratio: screen.ratio }, { alpha: true });
    if (context === undefined) return;
    context.clearRect(0, 0, width, height);
    paintGrid(grid, canvasSurface(context, screen.ratio), {
      ink: inkOf(theme),
      color: theme.accent,
      kept: chosen,
      cursor: focused ? cursor?.cell : undefined,
    });
  }, [answer, width, height, screen.ratio, theme, chosen?.from, chosen?.to, cursor?.cell, focused]);

  const cells = answer.columns * answer.rows;
  const move = (event: KeyboardEvent, by: number) => {
    const now = cursor ?? { cell: 0, from: 0 };
    const cell = Math.max(0, Math.min(cells - 1, now.cell + (cursor === undefined ? 0 : by)));
    props.setCursor({ cell, from: event.shiftKey ? now.from : cell });
    const { from, to } = spanOf(grid, cell, cell);
    app.spoken.value = `${cellText(grid, cell)}, ${filterText(windowOf({ from, to }))}`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const does: Readonly<Record<string, () => void>> = {
      ArrowUp: () => move(event, 1),
      ArrowDown: () => move(event, -1),
      ArrowRight: () => move(event, answer.rows),
      ArrowLeft: () => move(event, -answer.rows),
      Home: () => move(event, -cells),
      End: () => move(event, cells),
      Enter: () => cursor !== undefined && props.onKeep(spanOf(grid, cursor.cell, cursor.from)),
      Escape: () => {
        props.setCursor(cursor === undefined ? undefined : { cell: cursor.cell, from: cursor.cell });
        props.onKeep(undefined);
      },
    };
    const run = does[event.key];
    if (run === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  const cellOf = (event: MouseEvent) => {
    const bounds = canvas.current?.getBoundingClientRect();
    return cellAt(grid, event.clientX - (bounds?.left ?? 0), event.clientY - (bounds?.top ?? 0));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const element = event.currentTarget as HTMLElement;
    element.setPointerCapture(event.pointerId);
    const first = cellOf(event);
    props.setCursor({ cell: first, from: first });
    const follow = (next: PointerEvent) => props.onDrag(spanOf(grid, first, cellOf(next)));
    const end = (next: PointerEvent) => {
      element.removeEventListener("pointermove", follow);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      props.onDrag(undefined);
      if (next.type === "pointerup") props.onKeep(spanOf(grid, first, cellOf(next)));
    };
    element.addEventListener("pointermove", follow);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  };
  const until = answer.from + answer.column * answer.columns;
  const marks = marksOf({ from: answer.from, to: until }, ((until - answer.from) / Math.max(1, width)) * MARK_ROOM);
  const rows = marksOf({ from: 0, to: answer.column - 1 }, (answer.column / height) * ROW_MARKS);
  return (
    <div class="heatmap-grid" style={{ width: `${width}px` }}>
      <div class="heatmap-rows" aria-hidden="true" style={{ height: `${height}px` }}>
        {rows.map(({ at, text }) => (
          <span key={at} style={{ bottom: `${(at / answer.column) * height}px` }}>
            +{text}
          </span>
        ))}
      </div>
      <div
        class="heatmap-cells"
        tabIndex={0}
        role="group"
        aria-label={`Heat map of ${answer.columns} columns and ${answer.rows} rows. Arrows move, with Shift they select, Enter keeps the selection as a filter, Escape takes it back.`}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onPointerDown={onPointerDown}
        onPointerMove={(event) => props.onFound({ cell: cellOf(event), at: { x: event.clientX, y: event.clientY } })}
        onPointerLeave={() => props.onFound(undefined)}
      >
        <canvas ref={canvas} role="img" aria-label={labelOf(answer)} />
      </div>
      <div class="heatmap-axis" aria-hidden="true">
        {marks.map(({ at, text }) => (
          <span key={at} style={{ left: `${((at - answer.from) / (until - answer.from)) * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
    </div>
  );
}

const labelOf = ({ held, metric, columnText, rowText, fullText }: HeatMapResult) =>
  `${held.text} ${metric} over time, a column is ${columnText}, a cell ${rowText}; the most in a cell is ${fullText}`;
