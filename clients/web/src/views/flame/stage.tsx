// A flame graph on the page: canvas, pointer, keys, and the same tree in words beside it.
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { BoxFlag, FlameGraphRequest, TableRequest } from "../../../../shared/ts/psp.js";
import type { Selected } from "../../app.js";
import { canvasSurface, prepare, watchScreen, type Screen } from "../../draw/canvas.js";
import { paintsOf, type GroupHues, type Paints } from "../../draw/colors.js";
import {
  childrenOf,
  findPath,
  hit,
  isRemainder,
  labelOf,
  nameOf,
  namesOf,
  pathOf,
  type Layout,
} from "../../draw/layout.js";
import { paint, rowTop, visibleRows, type Frame } from "../../draw/paint.js";
import { rulerOf, type Ruler } from "../../draw/text.js";
import { shown } from "../../draw/shown.js";
import { detailed, type DetailedParams } from "../../rpc/ahead.js";
import type { ColorScheme } from "../../state/place.js";
import { useApp } from "../../ui/context.js";
import { useKeys } from "../../ui/keys.js";
import type { Point } from "../../ui/menu.js";
import { inkOf, useTheme } from "../../ui/theme.js";
import { FlameController, toUnitAt, type Target } from "./controller.js";
import { FlameTooltip, type Hovered } from "./tooltip.js";

export interface StageProps {
  readonly id: string;
  readonly label: string;
  readonly target: Target;
  readonly scheme: ColorScheme;
  readonly upward: boolean;
  readonly marks?: ReadonlyMap<string, string>;
  readonly hues: GroupHues;
  readonly onZoom: (zoom: readonly string[], step: boolean) => void;
  readonly onMenu: (box: Selected, at: Point, zoomable: boolean) => void;
  readonly onLayout?: (layout: Layout, paints: Paints) => void;
  readonly onFrame?: (frame: FrameInfo) => void;
  /** Gives the picture as it is, for export and the minimap. */
  readonly handle?: { current: StageHandle | undefined };
  readonly keys?: boolean;
}

export interface StageHandle {
  readonly controller: FlameController;
  /** What is seen, to be painted on another surface. */
  frame(): Frame | undefined;
  scrollTo(row: number): void;
  focus(): void;
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

const LONG_PRESS_MS = 500;
const DRAG_PIXELS = 5;

export function boxOf(layout: Layout, item: number): Selected {
  const { named, files, modules } = detailed(layout.answer);
  const row = layout.name[item]!;
  return {
    name: nameOf(layout, item),
    frames: namesOf(layout, item),
    spec: layout.answer.spec,
    path: pathOf(layout, item),
    text: layout.text[item] ?? "",
    file: files?.[named?.file?.[row] ?? -1],
    line: named?.line?.[row],
    module: modules?.[named?.module?.[row] ?? -1],
  };
}

export function Stage(props: StageProps) {
  const app = useApp();
  const theme = useTheme();
  const { compact, motion } = app.settings.value;
  const rowHeight = compact ? 14 : 18;
  const fontSize = compact ? 10.5 : 12;
  const scroller = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const viewport = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen>({ width: 0, height: 0, ratio: 1 });
  const latest = useRef(props);
  latest.current = props;
  const hovered = useSignal<Hovered | undefined>(undefined);
  const cursor = useSignal<number>(-1);
  const [layout, setLayout] = useState<Layout | undefined>(undefined);
  const [failure, setFailure] = useState<string | undefined>(undefined);
  const paints = useRef<{ of: Layout; key: string; value: Paints } | undefined>(undefined);
  const ruler = useRef<{ font: string; measure: Ruler } | undefined>(undefined);
  const scheduled = useRef(0);
  const dirty = useRef({ base: true, over: true });
  const draw = useRef<() => void>(() => undefined);

  const invalidate = (what: "base" | "over" = "base") => {
    dirty.current[what] = true;
    if (what === "base") dirty.current.over = true;
    if (scheduled.current === 0)
      scheduled.current = requestAnimationFrame(() => {
        scheduled.current = 0;
        draw.current();
      });
  };

  const reduced = useRef(false);
  reduced.current = !motion || theme.reducedMotion;
  const controllerRef = useRef<FlameController | undefined>(undefined);
  controllerRef.current ??= new FlameController({
    panel: props.id,
    ask: (params, signal) => {
      const full: DetailedParams = { ...params, details: true };
      return app.ask(FlameGraphRequest, full, signal);
    },
    level: async (target, path, offset, signal) => {
      const page = await app.ask(
        TableRequest,
        {
          profile: target.profile,
          spec: target.spec,
          sort: "total",
          offset,
          limit: 1000,
          ...(path.length > 0 ? { expand: [...path], revision: target.revision } : {}),
        },
        signal,
      );
      return {
        names: page.rows.name.map((row) => page.names[row] ?? ""),
        keys: page.rows.key,
        next: page.remainder?.offset,
      };
    },
    now: () => performance.now(),
    invalidate: () => invalidate(),
    arrived: (next) => {
      setFailure(undefined);
      setLayout(next);
      const selected = app.selected.value;
      cursor.value = selected === undefined ? -1 : placeOf(next, selected);
      hovered.value = undefined;
    },
    failed: (error) => {
      const text = app.explain(error);
      if (text !== undefined) setFailure(text);
    },
    fellBack: (zoom, name) => {
      app.say(`The box that was zoomed is not in this view; ${name} is shown`, "warning");
      latest.current.onZoom(zoom, false);
    },
    rezoomed: (zoom) => latest.current.onZoom(zoom, false),
    motion: () => !reduced.current,
  });
  const controller = controllerRef.current;

  const { target } = props;
  const targetKey = JSON.stringify(target);
  useEffect(() => controller.show(target), [targetKey]);
  const { epoch } = app;
  const firstEpoch = useRef(epoch.value);
  useEffect(() => {
    if (firstEpoch.current !== epoch.value) controller.again();
  }, [epoch.value]);
  useEffect(() => () => controller.dispose(), []);

  const paintsNow = (of: Layout): Paints => {
    const key = `${props.scheme} ${theme.mode} ${app.settings.value.palette}`;
    if (paints.current?.of !== of || paints.current.key !== key)
      paints.current = {
        of,
        key,
        value: paintsOf(of, props.scheme, theme.mode, app.settings.value.palette, props.hues),
      };
    return paints.current.value;
  };

  const frameNow = (): Frame | undefined => {
    const of = controller.layout;
    const element = scroller.current;
    if (of === undefined || element === null) return undefined;
    const font = `${fontSize}px ${theme.font}`;
    if (ruler.current?.font !== font) {
      const context = document.createElement("canvas").getContext("2d");
      if (context !== null) context.font = font;
      ruler.current = { font, measure: rulerOf((ch) => context?.measureText(ch).width ?? fontSize / 2) };
    }
    const { width, height, ratio } = screen.current;
    const spare = Math.max(0, height - of.rows * rowHeight);
    return {
      layout: of,
      paints: paintsNow(of),
      ink: inkOf(theme),
      placed: controller.placed,
      width,
      height,
      rowHeight,
      top: (latest.current.upward ? spare : 0) - element.scrollTop,
      upward: latest.current.upward,
      ruler: ruler.current.measure,
      ratio,
      searching: latest.current.target.search !== "" && of.answer.search !== undefined,
      marks: latest.current.marks ?? new Map(),
      fade: controller.fade,
      known: controller.known,
    };
  };

  draw.current = () => {
    if (base.current === null || over.current === null || controller.layout === undefined) return;
    const more = controller.frame(performance.now());
    const frame = frameNow();
    if (frame === undefined) return;
    if (dirty.current.base) {
      const context = prepare(base.current, screen.current);
      if (context !== undefined) {
        context.clearRect(0, 0, frame.width, frame.height);
        context.font = `${fontSize}px ${theme.font}`;
        context.fontKerning = "none";
        paint(frame, canvasSurface(context, frame.ratio));
      }
      const [firstRow, lastRow] = visibleRows(frame);
      latest.current.onFrame?.({ ...controller.camera, firstRow, lastRow });
    }
    const context = prepare(over.current, screen.current);
    if (context !== undefined)
      paintOverlay(context, frame, hovered.value?.item ?? -1, cursor.value, theme.accent, theme.text);
    dirty.current = { base: false, over: false };
    if (more) invalidate();
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    return watchScreen(element, (next) => {
      screen.current = next;
      if (viewport.current !== null) viewport.current.style.height = `${next.height}px`;
      controller.setWidth(next.width);
      // In the frame that shows the new size: nothing flickers.
      dirty.current.base = true;
      draw.current();
      invalidate();
    });
  }, []);
  useEffect(
    () => invalidate(),
    [layout, props.scheme, props.upward, theme, compact, props.marks, app.settings.value.palette],
  );
  useEffect(() => {
    if (layout !== undefined) latest.current.onLayout?.(layout, paintsNow(layout));
  }, [layout, props.scheme, theme, app.settings.value.palette]);

  // Flames grow from the ground: one sees the ground first.
  const rows = layout?.rows ?? 0;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && props.upward) element.scrollTop = element.scrollHeight;
  }, [props.upward, rows > 0]);

  const selected = app.selected.value;
  useEffect(() => {
    if (layout === undefined) return;
    cursor.value = selected === undefined ? -1 : placeOf(layout, selected);
    invalidate("over");
  }, [selected, layout]);

  const reveal = (item: number) => {
    const element = scroller.current;
    const of = controller.layout;
    if (element === null || of === undefined || item < 0) return;
    const at = (props.upward ? of.rows - 1 - of.depth[item]! : of.depth[item]!) * rowHeight;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = at + rowHeight - element.clientHeight;
  };

  const choose = (item: number) => {
    const of = controller.layout;
    if (of === undefined || item < 0) return;
    cursor.value = item;
    if (!isRemainder(of, item)) app.select(boxOf(of, item));
    reveal(item);
    invalidate("over");
  };

  const zoom = (item: number) => {
    const to = controller.zoomTo(item);
    if (to !== undefined) latest.current.onZoom(to, true);
  };

  const handle = props.handle;
  useEffect(() => {
    if (handle === undefined) return;
    handle.current = {
      controller,
      frame: frameNow,
      scrollTo: (row) => {
        const element = scroller.current;
        const of = controller.layout;
        if (element === null || of === undefined) return;
        element.scrollTop = (latest.current.upward ? of.rows - 1 - row : row) * rowHeight - element.clientHeight / 2;
      },
      focus: () => tree.current?.focus(),
      select: (path) => {
        const of = controller.layout;
        if (of === undefined) return;
        const found = findPath(of, path);
        if (found.whole) choose(found.item);
      },
      stepMatch: (direction) => {
        const of = controller.layout;
        if (of === undefined) return;
        const matches = of.rowItems.filter((i) => (of.flags[i]! & BoxFlag.matched) !== 0);
        if (matches.length === 0) {
          app.say("Nothing on the screen matches");
          return;
        }
        const at = matches.indexOf(cursor.value);
        const next = direction === "next" ? at + 1 : at < 0 ? matches.length - 1 : at - 1;
        choose(matches[(next + matches.length) % matches.length]!);
      },
    };
    return () => (handle.current = undefined);
  });

  const itemAt = (x: number, y: number): number => {
    const of = controller.layout;
    const frame = frameNow();
    if (of === undefined || frame === undefined) return -1;
    const line = Math.floor((y - frame.top) / rowHeight);
    const row = props.upward ? of.rows - 1 - line : line;
    return hit(of, row, toUnitAt(controller, x));
  };

  usePointer(tree, scroller, {
    controller,
    itemAt,
    hover: (item, at) => {
      if (item === (hovered.value?.item ?? -1) && item >= 0) {
        if (at !== undefined) hovered.value = { ...hovered.value!, at };
        return;
      }
      hovered.value =
        item < 0 || at === undefined || controller.layout === undefined
          ? undefined
          : { item, at, layout: controller.layout };
      invalidate("over");
    },
    click: (item) => {
      const of = controller.layout;
      if (of === undefined) return;
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
      props.onMenu(boxOf(of, item), at, true);
    },
  });

  const move = (direction: "in" | "out" | "left" | "right") => {
    const of = controller.layout;
    if (of === undefined) return;
    const at = cursor.value;
    if (at < 0) {
      choose(of.zoomed);
      return;
    }
    if (direction === "out") choose(of.parent[at]! >= 0 ? of.parent[at]! : at);
    else if (direction === "in") {
      // To the widest: where most of it goes.
      const widest = childrenOf(of, at).reduce((best, i) => (best < 0 || of.w[i]! > of.w[best]! ? i : best), -1);
      if (widest >= 0) choose(widest);
    } else {
      const row = of.depth[at]!;
      for (let i = of.rowStart[row]!; i < of.rowStart[row + 1]!; ++i) {
        if (of.rowItems[i] !== at) continue;
        const next = i + (direction === "right" ? 1 : -1);
        if (next >= of.rowStart[row]! && next < of.rowStart[row + 1]!) choose(of.rowItems[next]!);
        break;
      }
    }
  };
  const away = props.upward ? ("out" as const) : ("in" as const);
  const back = props.upward ? ("in" as const) : ("out" as const);
  const openMenu = () => {
    const of = controller.layout;
    const frame = frameNow();
    const box = scroller.current?.getBoundingClientRect();
    const at = cursor.value;
    if (of === undefined || frame === undefined || box === undefined || at < 0 || isRemainder(of, at)) return;
    const x = box.left + Math.max(8, Math.min(frame.width - 40, frame.placed.x[at]! + 8));
    props.onMenu(boxOf(of, at), { x, y: box.top + rowTop(frame, of.depth[at]!) + rowHeight }, true);
  };
  useKeys({
    title: "Flame graph",
    keys:
      props.keys === false
        ? []
        : [
            { keys: ["ArrowDown", "j"], text: "box below", run: () => move(away) },
            { keys: ["ArrowUp", "k"], text: "box above", run: () => move(back) },
            { keys: ["ArrowLeft", "h"], text: "box to the left", run: () => move("left") },
            { keys: ["ArrowRight", "l"], text: "box to the right", run: () => move("right") },
            { keys: ["Enter"], text: "zoom to the chosen box", run: () => cursor.value >= 0 && zoom(cursor.value) },
            {
              keys: ["0"],
              text: "the whole graph",
              run: () =>
                latest.current.target.zoom.length > 0 ? latest.current.onZoom([], true) : controller.resetCamera(),
            },
            { keys: ["+", "="], text: "closer", run: () => controller.zoomBy(1 / 1.5, screen.current.width / 2) },
            { keys: ["-"], text: "farther", run: () => controller.zoomBy(1.5, screen.current.width / 2) },
            { keys: ["<"], text: "to the left", run: () => controller.pan(-screen.current.width / 4) },
            { keys: [">"], text: "to the right", run: () => controller.pan(screen.current.width / 4) },
            { keys: ["."], text: "what can be done with the box", run: openMenu },
          ],
  });

  const height = rows * rowHeight;
  return (
    <div class="stage" ref={scroller} onScroll={() => invalidate()}>
      <div class="stage-content" style={{ height: `${height}px` }}>
        <div class="stage-view" ref={viewport}>
          <canvas ref={base} aria-hidden="true" />
          <canvas ref={over} aria-hidden="true" />
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
              Nothing is left in this view. Switch off a filter, or press <kbd>u</kbd> to undo the last one.
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

// The chosen frame in this picture: by its path where it is of this view, else the widest box of its name.
function placeOf(layout: Layout, selected: Selected): number {
  if (selected.path !== undefined && selected.spec === layout.answer.spec) {
    const found = findPath(layout, selected.path);
    if (found.whole) return found.item;
  }
  let best = -1;
  for (let i = 1; i < layout.boxes; ++i)
    if (nameOf(layout, i) === selected.name && (best < 0 || layout.w[i]! > layout.w[best]!)) best = i;
  return best;
}

function paintOverlay(
  context: CanvasRenderingContext2D,
  frame: Frame,
  hovered: number,
  cursor: number,
  accent: string,
  text: string,
): void {
  const { layout, placed, rowHeight, width, height } = frame;
  context.clearRect(0, 0, width, height);
  const outline = (i: number, color: string, line: number) => {
    const x0 = Math.max(-2, placed.x[i]!);
    const x1 = Math.min(width + 2, placed.x[i]! + placed.w[i]!);
    const y = rowTop(frame, layout.depth[i]!);
    if (x1 < 0 || x0 > width || y + rowHeight < 0 || y > height) return;
    context.strokeStyle = color;
    context.lineWidth = line;
    context.strokeRect(x0 + line / 2, y + line / 2, Math.max(1, x1 - x0 - line - 0.5), rowHeight - 1 - line);
  };
  // All boxes of a function light up with the one that is pointed at.
  const shine = (name: number, color: string, alpha: number) => {
    const [low, high] = visibleRows(frame);
    context.globalAlpha = alpha;
    context.fillStyle = color;
    for (let i = 0; i < layout.boxes; ++i) {
      const row = layout.depth[i]!;
      if (layout.name[i] !== name || row < low || row > high || placed.w[i]! < 0.5) continue;
      context.fillRect(placed.x[i]!, rowTop(frame, row), Math.max(1, placed.w[i]! - 1), rowHeight - 1);
    }
    context.globalAlpha = 1;
  };
  if (hovered >= 0 && hovered < layout.boxes && layout.name[hovered]! >= 0) shine(layout.name[hovered]!, text, 0.16);
  if (hovered >= 0 && hovered < layout.size) outline(hovered, text, 1);
  if (cursor >= 0 && cursor < layout.size) outline(cursor, accent, 2);
}

interface PointerHandlers {
  readonly controller: FlameController;
  readonly itemAt: (x: number, y: number) => number;
  readonly hover: (item: number, at: Point | undefined) => void;
  readonly click: (item: number) => void;
  readonly tap: (item: number) => void;
  readonly doubleTap: (item: number) => void;
  readonly menu: (item: number, at: Point) => void;
}

function usePointer(
  surface: { current: HTMLElement | null },
  scroller: { current: HTMLElement | null },
  handlers: PointerHandlers,
): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const element = surface.current;
    const outer = scroller.current;
    if (element === null || outer === null) return;
    const local = (event: MouseEvent): Point => {
      const box = outer.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const held = new Map<number, Point>();
    let start: Point | undefined;
    let dragging = false;
    let pressTimer: ReturnType<typeof setTimeout> | undefined;
    let pressed = false;
    let lastTap = { time: 0, item: -1 };
    let pinch = 0;

    const down = (event: PointerEvent) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      dragging = false;
      pressed = false;
      start = { x: event.clientX, y: event.clientY };
      if (event.pointerType === "mouse") return;
      const at = local(event);
      clearTimeout(pressTimer);
      pressTimer = setTimeout(() => {
        pressed = true;
        latest.current.menu(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
      }, LONG_PRESS_MS);
    };
    const moved = (event: PointerEvent) => {
      const at = local(event);
      const before = held.get(event.pointerId);
      if (before === undefined) {
        if (event.pointerType !== "touch")
          latest.current.hover(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
        return;
      }
      if (start !== undefined && Math.hypot(event.clientX - start.x, event.clientY - start.y) > DRAG_PIXELS) {
        if (!dragging && event.pointerType === "mouse") element.setPointerCapture(event.pointerId);
        dragging = true;
        clearTimeout(pressTimer);
        latest.current.hover(-1, undefined);
      }
      if (held.size === 2) {
        held.set(event.pointerId, { x: event.clientX, y: event.clientY });
        const [one, two] = [...held.values()];
        const distance = Math.hypot(one!.x - two!.x, one!.y - two!.y);
        const box = outer.getBoundingClientRect();
        if (pinch > 0) latest.current.controller.zoomBy(pinch / distance, (one!.x + two!.x) / 2 - box.left);
        pinch = distance;
        return;
      }
      if (dragging) {
        latest.current.controller.pan(before.x - event.clientX);
        if (event.pointerType === "mouse") outer.scrollTop += before.y - event.clientY;
      }
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    };
    const up = (event: PointerEvent) => {
      const known = held.delete(event.pointerId);
      clearTimeout(pressTimer);
      pinch = 0;
      if (!known || dragging || pressed || event.button !== 0) return;
      const at = local(event);
      const item = latest.current.itemAt(at.x, at.y);
      if (event.pointerType === "mouse") {
        latest.current.click(item);
        return;
      }
      if (lastTap.item === item && event.timeStamp - lastTap.time < 350) latest.current.doubleTap(item);
      else latest.current.tap(item);
      lastTap = { time: event.timeStamp, item };
    };
    const cancel = (event: PointerEvent) => {
      held.delete(event.pointerId);
      clearTimeout(pressTimer);
      pinch = 0;
    };
    const leave = () => latest.current.hover(-1, undefined);
    const menu = (event: MouseEvent) => {
      event.preventDefault();
      if (pressed) return;
      const at = local(event);
      latest.current.menu(latest.current.itemAt(at.x, at.y), { x: event.clientX, y: event.clientY });
    };
    const wheel = (event: WheelEvent) => {
      const { controller } = latest.current;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const step = event.deltaMode === 0 ? event.deltaY : event.deltaY * 24;
        controller.zoomBy(Math.exp(Math.max(-120, Math.min(120, step)) * 0.004), local(event).x);
        latest.current.hover(-1, undefined);
        return;
      }
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.shiftKey ? 0 : event.deltaY) && controller.closer) {
        event.preventDefault();
        controller.pan(event.deltaMode === 0 ? sideways : sideways * 24);
      }
      latest.current.hover(-1, undefined);
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", moved);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", cancel);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("contextmenu", menu);
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      clearTimeout(pressTimer);
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", moved);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", cancel);
      element.removeEventListener("pointerleave", leave);
      element.removeEventListener("contextmenu", menu);
      element.removeEventListener("wheel", wheel);
    };
  }, []);
}

const NEIGHBOURS = 12;

/** The chosen box, those above it, beside it and right below it: what a screen reader walks through. */
function AccessibleTree(props: {
  id: string;
  label: string;
  layout: Layout | undefined;
  cursor: number;
  elementRef: { current: HTMLDivElement | null };
  onFocus: () => void;
  onMenu: () => void;
}) {
  const { layout, cursor, id } = props;
  const items: { item: number; level: number; position: number; size: number; expanded: boolean | undefined }[] = [];
  if (layout !== undefined && layout.boxes > 0) {
    const at = cursor >= 0 && cursor < layout.size ? cursor : layout.zoomed;
    const above: number[] = [];
    for (let up = layout.parent[at]!; up >= 0; up = layout.parent[up]!) above.unshift(up);
    for (const item of above)
      items.push({ item, level: layout.depth[item]! + 1, position: 1, size: 1, expanded: true });
    const parent = layout.parent[at]!;
    const siblings = parent < 0 ? [at] : childrenOf(layout, parent);
    const own = siblings.indexOf(at);
    const first = Math.max(0, own - NEIGHBOURS);
    siblings.slice(first, own + NEIGHBOURS + 1).forEach((item, i) => {
      const children = isRemainder(layout, item) ? [] : childrenOf(layout, item);
      const more = (layout.flags[item]! & BoxFlag.more) !== 0;
      items.push({
        item,
        level: layout.depth[item]! + 1,
        position: first + i + 1,
        size: siblings.length,
        expanded: children.length === 0 && !more ? undefined : item === at,
      });
      if (item === at)
        children.slice(0, NEIGHBOURS).forEach((child, position) =>
          items.push({
            item: child,
            level: layout.depth[child]! + 1,
            position: position + 1,
            size: children.length,
            expanded: undefined,
          }),
        );
    });
  }
  const active = layout === undefined ? undefined : cursor >= 0 && cursor < layout.size ? cursor : layout.zoomed;
  return (
    <div
      class="stage-tree"
      role="tree"
      aria-label={props.label}
      aria-activedescendant={active === undefined ? undefined : `${id}-box-${active}`}
      tabIndex={0}
      ref={props.elementRef}
      onFocus={(event) => {
        if (event.currentTarget.matches(":focus-visible")) props.onFocus();
      }}
      onKeyDown={(event) => {
        if (event.key !== "ContextMenu" && !(event.shiftKey && event.key === "F10")) return;
        event.preventDefault();
        props.onMenu();
      }}
    >
      {layout !== undefined &&
        items.map(({ item, level, position, size, expanded }) => (
          <div
            key={item}
            id={`${id}-box-${item}`}
            role="treeitem"
            aria-level={level}
            aria-posinset={position}
            aria-setsize={size}
            aria-expanded={expanded}
            aria-selected={item === cursor}
          >
            {isRemainder(layout, item)
              ? (layout.text[item] ?? "")
              : `${shown(nameOf(layout, item)) || labelOf(layout, item)}, ${layout.text[item] ?? ""}`}
          </div>
        ))}
    </div>
  );
}
