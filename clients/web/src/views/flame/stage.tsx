// A flame graph on the page: what is chosen in it and pointed at, where it is scrolled, and the parts that draw it, hear
// of the pointer and of keys, and say it in words.
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FlameGraphRequest, HiddenMatchesRequest } from "../../../../shared/ts/psp.js";
import type { App, Selected } from "../../app.js";
import { releaser, watchScreen } from "../../draw/canvas.js";
import type { GroupHues, Paints } from "../../draw/colors.js";
import { findPath, hit, isRemainder, namesOf, pathOf, type Layout } from "../../draw/layout.js";
import { lineOf, rowTop, visibleRows, type Frame } from "../../draw/paint.js";
import { filtersOf, type ColorScheme } from "../../state/place.js";
import { useApp } from "../../ui/context.js";
import { useKeys } from "../../ui/keys.js";
import type { Point } from "../../ui/menu.js";
import { useTheme } from "../../ui/theme.js";
import { AccessibleTree } from "./accessible.js";
import { boxOf, placeOf } from "./box.js";
import { FlameController, toUnitAt, type Host, type Target } from "./controller.js";
import { moved, nextMatch, type Move } from "./moves.js";
import { rowHeightOf, StagePainter, type Look } from "./painter.js";
import { usePointer } from "./pointer.js";
import { stageKeys } from "./stagekeys.js";
import { FlameTooltip, type Hovered } from "./tooltip.js";

export interface StageProps {
  readonly id: string;
  readonly label: string;
  readonly target: Target;
  readonly scheme: ColorScheme;
  readonly upward: boolean;
  readonly marks?: readonly string[];
  readonly hues: GroupHues;
  readonly onZoom: (zoom: readonly string[], step: boolean) => void;
  readonly onMenu: (box: Selected, at: Point) => void;
  /** More boxes than a picture can have are right below the box of these names. */
  readonly onList?: (names: readonly string[]) => void;
  readonly onLayout?: (layout: Layout, paints: Paints) => void;
  readonly onCounted?: (layout: Layout) => void;
  readonly onFrame?: (frame: FrameInfo) => void;
  /** Gives the picture as it is, for export and the minimap. */
  readonly handle?: { current: StageHandle | undefined };
  readonly keys?: boolean;
  /** One of several pictures of the same boxes: what it does not have leaves the zoom of the others as it is. */
  readonly follows?: boolean;
  /** What is pointed at in any of them. */
  readonly linked?: Signal<Linked | undefined>;
}

/** A box that is pointed at, for other pictures of the same boxes. */
export interface Linked {
  /** The stage. */
  readonly from: string;
  readonly path: readonly number[];
}

export interface StageHandle {
  readonly controller: FlameController;
  /** What is seen, to be painted on another surface. */
  frame(): Frame | undefined;
  select(path: readonly number[]): void;
  /** To the next box on the screen that matches. */
  stepMatch(direction: "next" | "previous"): void;
}

export interface FrameInfo {
  readonly x0: number;
  readonly x1: number;
  readonly firstRow: number;
  readonly lastRow: number;
}

const NO_MARKS: readonly string[] = [];

export function Stage(props: StageProps) {
  const app = useApp();
  const theme = useTheme();
  const settings = app.settings.value;
  const rowHeight = rowHeightOf(settings);
  const { target, upward, scheme, marks = NO_MARKS } = props;
  const look: Look = { theme, settings, scheme, hues: props.hues, upward, marks, searching: target.search !== "" };
  const latest = useRef({ props, look });
  latest.current = { props, look };

  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const viewport = useRef<HTMLDivElement>(null);
  const hovered = useSignal<Hovered | undefined>(undefined);
  const cursor = useSignal<number>(-1);
  const [layout, setLayout] = useState<Layout | undefined>(undefined);
  const [failure, setFailure] = useState<string | undefined>(undefined);

  const [controller] = useState(
    () =>
      new FlameController({
        ...asking(app),
        panel: props.id,
        now: () => performance.now(),
        invalidate: () => painter.invalidate(),
        arrived: (next) => {
          setFailure(undefined);
          setLayout(next);
          cursor.value = placeOf(next, app.selected.value);
          hovered.value = undefined;
        },
        counted: (of) => {
          if (hovered.value !== undefined) hovered.value = { ...hovered.value };
          latest.current.props.onCounted?.(of);
        },
        failed: (error) => {
          const text = app.explain(error);
          if (text !== undefined) setFailure(text);
        },
        fellBack: (zoom, name) => {
          if (latest.current.props.follows === true) return;
          app.say(`The box that was zoomed is not in this view; ${name} is shown`, "warning");
          latest.current.props.onZoom(zoom, false);
        },
        rezoomed: (zoom) => latest.current.props.onZoom(zoom, false),
        motion: () => latest.current.look.settings.motion && !latest.current.look.theme.reducedMotion,
      }),
  );
  const [painter] = useState(
    () =>
      new StagePainter({
        controller,
        look: () => latest.current.look,
        scrollTop: () => scroller.current?.scrollTop ?? 0,
        canvas: () => canvas.current,
        hovered: () => hovered.peek()?.item ?? linkedItem(),
        cursor: () => cursor.peek(),
        drawn: (frame) => {
          const [firstRow, lastRow] = visibleRows(frame);
          latest.current.props.onFrame?.({ ...controller.camera, firstRow, lastRow });
        },
      }),
  );
  const linkedItem = () => {
    const link = latest.current.props.linked?.peek();
    if (link === undefined || link.from === latest.current.props.id || controller.layout === undefined) return -1;
    const found = findPath(controller.layout, link.path);
    return found.whole ? found.item : -1;
  };
  useEffect(() => props.linked?.subscribe(() => painter.invalidate()), [props.linked]);
  useEffect(
    () => () => {
      controller.dispose();
      painter.dispose();
    },
    [],
  );
  useEffect(() => releaser(canvas), []);

  const targetKey = JSON.stringify(target);
  useEffect(() => controller.show(target), [targetKey]);
  const { epoch } = app;
  const firstEpoch = useRef(epoch.value);
  useEffect(() => {
    if (firstEpoch.current !== epoch.value) controller.again();
  }, [epoch.value]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    return watchScreen(element, (next) => {
      if (viewport.current !== null) viewport.current.style.height = `${next.height}px`;
      controller.setWidth(next.width);
      painter.resized(next);
    });
  }, []);
  useEffect(() => painter.invalidate(), [layout, scheme, upward, theme, props.marks, settings]);
  useEffect(() => {
    if (layout !== undefined) latest.current.props.onLayout?.(layout, painter.paintsOf(layout));
  }, [layout, scheme, theme, settings.palette]);

  // Flames grow from the ground: one sees the ground first.
  const rows = layout?.rows ?? 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && upward) element.scrollTop = element.scrollHeight;
  }, [upward, rows > 0]);

  // Read when the effect runs, not when it was made: keys come faster than frames, and what was chosen here is there already.
  const selected = app.selected.value;
  const followed = useRef(selected);
  useEffect(() => {
    const now = app.selected.peek();
    if (layout === undefined || now === followed.current) return;
    followed.current = now;
    cursor.value = placeOf(layout, now);
    painter.invalidate();
  }, [selected, layout]);

  const reveal = (of: Layout, item: number) => {
    const element = scroller.current;
    if (element === null) return;
    const at = lineOf(of, upward, of.depth[item]!) * rowHeight;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = at + rowHeight - element.clientHeight;
  };
  const choose = (item: number) => {
    const of = controller.layout;
    if (of === undefined || item < 0) return;
    cursor.value = item;
    if (!isRemainder(of, item)) app.select((followed.current = boxOf(of, item)));
    reveal(of, item);
    painter.invalidate();
  };
  const zoom = (item: number) => {
    const of = controller.layout;
    if (of !== undefined && isRemainder(of, item) && !controller.opens(item)) {
      latest.current.props.onList?.(namesOf(of, Math.max(0, of.parent[item]!)));
      return;
    }
    const to = controller.zoomTo(item);
    if (to !== undefined) latest.current.props.onZoom(to, true);
  };
  const openMenu = () => {
    const frame = painter.frame();
    const box = scroller.current?.getBoundingClientRect();
    const at = cursor.value;
    if (frame === undefined || box === undefined || at < 0 || isRemainder(frame.layout, at)) return;
    const x = box.left + Math.max(8, Math.min(frame.width - 40, frame.placed.x[at]! + 8));
    props.onMenu(boxOf(frame.layout, at), { x, y: box.top + rowTop(frame, frame.layout.depth[at]!) + rowHeight });
  };

  const { handle } = props;
  useEffect(() => {
    if (handle === undefined) return;
    handle.current = {
      controller,
      frame: () => painter.frame(),
      select: (path) => {
        const of = controller.layout;
        if (of === undefined) return;
        const found = findPath(of, path);
        if (found.whole) choose(found.item);
      },
      stepMatch: (direction) => {
        const of = controller.layout;
        if (of === undefined) return;
        const next = nextMatch(of, cursor.value, direction);
        if (next < 0) app.say("Nothing on the screen matches");
        else choose(next);
      },
    };
    return () => (handle.current = undefined);
  });

  usePointer(tree, scroller, {
    controller,
    itemAt: (x, y) => {
      const frame = painter.frame();
      if (frame === undefined) return -1;
      const row = lineOf(frame.layout, upward, Math.floor((y - frame.top) / rowHeight));
      return hit(frame.layout, row, toUnitAt(controller, x));
    },
    hover: (item, at) => {
      const of = controller.layout;
      const before = hovered.value;
      hovered.value =
        item < 0 || at === undefined || of === undefined
          ? undefined
          : { item, at, layout: of, opens: controller.opens(item) };
      if (hovered.value?.item === before?.item) return;
      painter.invalidate();
      const { linked, id } = latest.current.props;
      if (linked === undefined) return;
      if (hovered.value !== undefined && of !== undefined && !isRemainder(of, item))
        linked.value = { from: id, path: pathOf(of, item) };
      else if (linked.value?.from === id) linked.value = undefined;
    },
    click: (item) => {
      if (controller.layout === undefined) return;
      if (item < 0) {
        app.select(undefined);
        return;
      }
      choose(item);
      zoom(item);
    },
    tap: choose,
    doubleTap: zoom,
    menu: (item, at) => {
      const of = controller.layout;
      if (of === undefined || item < 0) return;
      if (isRemainder(of, item)) {
        zoom(item);
        return;
      }
      choose(item);
      hovered.value = undefined;
      props.onMenu(boxOf(of, item), at);
    },
  });

  const keys = stageKeys({
    controller,
    upward,
    width: () => painter.screen.width,
    move: (to: Move) => {
      const of = controller.layout;
      if (of !== undefined) choose(cursor.value < 0 ? of.zoomed : moved(of, cursor.value, to));
    },
    zoomToChosen: () => cursor.value >= 0 && zoom(cursor.value),
    showAll: () => {
      if (target.zoom.length > 0) props.onZoom([], true);
      else controller.resetCamera();
    },
    openMenu,
  });
  useKeys({ title: "Flame graph", keys: props.keys === false ? [] : keys });

  return (
    <div class="stage" ref={scroller} onScroll={() => painter.invalidate()}>
      <div class="stage-content" style={{ height: `${rows * rowHeight}px` }}>
        <div class="stage-view" ref={viewport}>
          <canvas ref={canvas} aria-hidden="true" />
          <AccessibleTree
            id={props.id}
            label={props.label}
            layout={layout}
            cursor={cursor.value}
            elementRef={tree}
            onFocus={() => {
              if (cursor.value < 0 && controller.layout !== undefined) choose(controller.layout.zoomed);
            }}
            onMenu={openMenu}
          />
          {failure !== undefined && (
            <div class="stage-message" role="alert">
              {failure}
            </div>
          )}
          {layout === undefined && failure === undefined && (
            <div class="stage-message bones">Computing the picture</div>
          )}
          {layout !== undefined && layout.span <= 0 && (
            <div class="stage-message">
              {filtersOf(app.place.value).length > 0 ? (
                <>
                  Nothing is left in this view. Switch off a filter, or press <kbd>u</kbd> to undo the last one.
                </>
              ) : (
                <>
                  {layout.answer.metric} is 0 everywhere in this profile. <kbd>m</kbd> shows another metric.
                </>
              )}
            </div>
          )}
        </div>
      </div>
      {hovered.value !== undefined && (
        <FlameTooltip hovered={hovered.value} metricNames={app.profile.value?.metrics.length ?? 1} />
      )}
    </div>
  );
}

/** What a picture is made of, asked of the daemon. */
function asking(app: App): Pick<Host, "ask" | "count"> {
  return {
    count: async (params, signal) => {
      if (!app.can(HiddenMatchesRequest.method)) return undefined;
      try {
        return await app.ask(HiddenMatchesRequest, params, signal);
      } catch (error) {
        const text = signal.aborted ? undefined : app.explain(error);
        if (text !== undefined) app.say(text, "error");
        return undefined;
      }
    },
    ask: (params, signal) => app.ask(FlameGraphRequest, { ...params, details: true, nodes: false }, signal),
  };
}
