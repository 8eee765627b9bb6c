// The whole graph, small: where one is in it, and a way to go elsewhere.
import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { FlameGraphRequest } from "../../../../shared/ts/psp.js";
import { prepare, releaser, watchScreen, type Screen } from "../../draw/canvas.js";
import { paintsOf, type GroupHues } from "../../draw/colors.js";
import { hit, isRemainder, layoutOf, namesOf, pathOf, zoomedIn, type Layout } from "../../draw/layout.js";
import { nameHash, type ColorScheme } from "../../state/place.js";
import { go } from "../../state/state.js";
import { useApp } from "../../ui/context.js";
import { useTheme } from "../../ui/theme.js";
import type { Target } from "./controller.js";
import type { FrameInfo, StageHandle } from "./stage.js";

const ROW = 2;
const MAX_ROWS = 18;

export function Minimap(props: {
  target: Target;
  scheme: ColorScheme;
  hues: GroupHues;
  frame: Signal<FrameInfo | undefined>;
  upward: boolean;
  stage: { current: StageHandle | undefined };
}) {
  const app = useApp();
  const theme = useTheme();
  const canvas = useRef<HTMLCanvasElement>(null);
  const marker = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen>({ width: 0, height: 0, ratio: 1 });
  const [layout, setLayout] = useState<Layout | undefined>(undefined);
  const { profile, spec, order, revision, work } = props.target;
  const seen = props.frame.value;
  const main = props.stage.current?.controller.layout;

  useEffect(() => (box.current === null ? undefined : watchScreen(box.current, setScreen)), []);
  useEffect(() => releaser(canvas, marker), []);
  // The picture itself comes first.
  const drawn = seen !== undefined;
  useEffect(() => {
    if (!drawn) return;
    const controller = new AbortController();
    app
      .ask(
        FlameGraphRequest,
        {
          profile,
          spec,
          order,
          viewport: { width: 800, minWidth: 1, maxDepth: MAX_ROWS, maxBoxes: 1500 },
          nodes: false,
          ...(work === true ? { work } : {}),
          panelId: "minimap",
        },
        controller.signal,
      )
      .then((answer) => setLayout(layoutOf(answer, 0)))
      .catch(() => undefined);
    return () => controller.abort();
  }, [drawn, profile, spec, order, revision, work, app.epoch.value]);

  const { palette } = app.settings.value;
  useEffect(() => {
    if (canvas.current === null || layout === undefined || screen.width === 0) return;
    const context = prepare(canvas.current, screen, { alpha: true });
    if (context === undefined) return;
    context.clearRect(0, 0, screen.width, screen.height);
    const scheme = props.scheme === "metric" ? "module" : props.scheme;
    const paints = paintsOf(layout, scheme, theme.mode, palette, props.hues);
    const rows = Math.min(MAX_ROWS, layout.rows);
    for (const i of paints.byFill) {
      const row = layout.depth[i]!;
      if (row >= rows) continue;
      const x = (layout.x[i]! / layout.span) * screen.width;
      const width = (layout.w[i]! / layout.span) * screen.width;
      context.fillStyle = theme.forced ? "CanvasText" : paints.fills[paints.fill[i]!]!;
      context.fillRect(x, props.upward ? screen.height - (row + 1) * ROW : row * ROW, Math.max(0.5, width), ROW);
    }
  }, [layout, screen, props.scheme, props.upward, theme, palette]);

  // Where the zoomed box is in the whole: as far down as the small picture knows it. This moves with every frame.
  const at = layout === undefined || main === undefined ? 0 : zoomedIn(layout, main);
  const place = layout === undefined ? undefined : { x: layout.x[at]!, w: layout.w[at]! };
  useEffect(() => {
    if (marker.current === null || layout === undefined || place === undefined || screen.width === 0) return;
    const context = prepare(marker.current, screen, { alpha: true });
    if (context === undefined) return;
    context.clearRect(0, 0, screen.width, screen.height);
    const inner =
      main === undefined || seen === undefined ? undefined : { from: seen.x0 / main.span, to: seen.x1 / main.span };
    const width = (place.w / layout.span) * screen.width;
    const left = (place.x / layout.span) * screen.width + (inner === undefined ? 0 : inner.from * width);
    const wide = Math.max(3, inner === undefined ? width : (inner.to - inner.from) * width);
    if (wide >= screen.width - 1) return;
    context.fillStyle = theme.ground;
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, left, screen.height);
    context.fillRect(left + wide, 0, screen.width - left - wide, screen.height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, wide - 1.5, screen.height - 1.5);
  });

  const goTo = (event: PointerEvent) => {
    const at = canvas.current?.getBoundingClientRect();
    if (layout === undefined || at === undefined) return;
    const line = Math.floor((event.clientY - at.top) / ROW);
    const unit = ((event.clientX - at.left) / at.width) * layout.span;
    // The deepest box there that is not thinner than what can be pointed at.
    let item = 0;
    for (let row = 0; row <= Math.max(1, props.upward ? layout.rows - 1 - line : line); ++row) {
      const here = hit(layout, row, unit);
      if (here < 0 || isRemainder(layout, here)) break;
      item = here;
    }
    const zoom = namesOf(layout, item).map(nameHash);
    props.stage.current?.controller.knows(zoom, pathOf(layout, item));
    app.update((state) => go(state, { zoom }));
  };
  return (
    <div class="minimap" ref={box} aria-hidden="true" onPointerDown={goTo} title="The whole graph: click to go there">
      <canvas ref={canvas} />
      <canvas ref={marker} />
    </div>
  );
}
