// A Surface on a canvas, and a canvas that is as sharp as its screen.
import type { Surface } from "./paint.js";

export function canvasSurface(context: CanvasRenderingContext2D, ratio: number): Surface {
  let fill = "";
  const use = (color: string) => {
    if (fill !== color) context.fillStyle = fill = color;
  };
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.direction = "ltr";
  let pattern: { ink: string; ground: string; value: CanvasPattern } | undefined;
  return {
    rect(x, y, width, height, color) {
      use(color);
      context.fillRect(x, y, width, height);
    },
    edge(x, y, width, height, ink) {
      context.strokeStyle = ink;
      context.lineWidth = 1;
      context.setLineDash([3, 2]);
      context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
      context.setLineDash([]);
    },
    hatch(x, y, width, height, ink, ground) {
      if (pattern?.ink !== ink || pattern.ground !== ground) {
        const value = hatchPattern(context, ink, ground, ratio);
        if (value === undefined) return;
        pattern = { ink, ground, value };
      }
      context.fillStyle = pattern.value;
      fill = "";
      context.fillRect(x, y, width, height);
    },
    text(x, y, text, color) {
      use(color);
      context.fillText(text, x, y + 0.5);
    },
    alpha(value) {
      context.globalAlpha = value;
    },
  };
}

function hatchPattern(
  context: CanvasRenderingContext2D,
  ink: string,
  ground: string,
  ratio: number,
): CanvasPattern | undefined {
  const side = 6;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(side * ratio);
  const on = tile.getContext("2d");
  if (on === null) return undefined;
  on.scale(tile.width / side, tile.height / side);
  on.fillStyle = ground;
  on.fillRect(0, 0, side, side);
  on.strokeStyle = ink;
  on.lineWidth = 1;
  on.beginPath();
  for (const shift of [-side, 0, side]) {
    on.moveTo(shift - 1, side + 1);
    on.lineTo(shift + side + 1, -1);
  }
  on.stroke();
  const pattern = context.createPattern(tile, "repeat") ?? undefined;
  pattern?.setTransform(new DOMMatrix().scale(side / tile.width));
  return pattern;
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

/** Tells sizes in pixels of the page and of the screen, browser zoom and moves between screens included. */
export function watchScreen(element: HTMLElement, changed: (screen: Screen) => void): () => void {
  let query: MediaQueryList | undefined;
  const tell = () => {
    changed({ width: element.clientWidth, height: element.clientHeight, ratio: window.devicePixelRatio || 1 });
  };
  const ratioChanged = () => {
    query?.removeEventListener("change", ratioChanged);
    query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", ratioChanged);
    tell();
  };
  const observer = new ResizeObserver(tell);
  observer.observe(element);
  ratioChanged();
  return () => {
    observer.disconnect();
    query?.removeEventListener("change", ratioChanged);
  };
}

/** Sizes the canvas, if it is not yet, and gives its context in pixels of the page. `alpha`: it can be seen through. */
export function prepare(
  canvas: HTMLCanvasElement,
  screen: Screen,
  { alpha }: { readonly alpha: boolean },
): CanvasRenderingContext2D | undefined {
  const width = Math.max(1, Math.round(screen.width * screen.ratio));
  const height = Math.max(1, Math.round(screen.height * screen.ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${width / screen.ratio}px`;
    canvas.style.height = `${height / screen.ratio}px`;
  }
  const context = canvas.getContext("2d", { alpha });
  if (context === null) return undefined;
  context.setTransform(screen.ratio, 0, 0, screen.ratio, 0, 0);
  return context;
}

/**
 * For when the canvases that are there now leave the page: gives their pixels back, megabytes, which what drew them may keep
 * for long. Their references are empty by then.
 */
export function releaser(...canvases: readonly { readonly current: HTMLCanvasElement | null }[]): () => void {
  const kept = canvases.map(({ current }) => current);
  return () => {
    for (const canvas of kept) if (canvas !== null) canvas.width = canvas.height = 0;
  };
}
