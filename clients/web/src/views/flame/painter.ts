// Draws a flame graph on its canvas: boxes and names, then what is pointed at and chosen. At most once a frame of the
// screen, and never while nothing changes.
import { canvasSurface, prepare, type Screen } from "../../draw/canvas.js";
import { paintsOf, type GroupHues, type Paints } from "../../draw/colors.js";
import type { Layout } from "../../draw/layout.js";
import { paint, type Frame, type Surface } from "../../draw/paint.js";
import { rulerOf, type Ruler } from "../../draw/text.js";
import { behindMessages } from "../../draw/turn.js";
import type { ColorScheme } from "../../state/place.js";
import type { Settings } from "../../state/state.js";
import { inkOf, type ThemeValues } from "../../ui/theme.js";
import type { FlameController } from "./controller.js";
import { paintOverlay } from "./overlay.js";

/** How the picture is to look; what it shows is the controller's. */
export interface Look {
  readonly theme: ThemeValues;
  readonly settings: Settings;
  readonly scheme: ColorScheme;
  readonly hues: GroupHues;
  readonly upward: boolean;
  readonly marks: readonly string[];
  readonly searching: boolean;
}

export interface PainterHost {
  readonly controller: FlameController;
  look(): Look;
  scrollTop(): number;
  canvas(): HTMLCanvasElement | null;
  /** The items with an outline; -1: none. */
  hovered(): number;
  cursor(): number;
  drawn(frame: Frame): void;
}

export const rowHeightOf = ({ compact }: Settings) => (compact ? 14 : 18);
const fontSizeOf = ({ compact }: Settings) => (compact ? 10.5 : 12);

export class StagePainter {
  screen: Screen = { width: 0, height: 0, ratio: 1 };
  private scheduled = 0;
  private isDue = false;
  private isGone = false;
  private surface: { of: string; value: Surface } | undefined;
  private paints: { of: Layout; key: string; value: Paints } | undefined;
  private ruler: { font: string; measure: Ruler } | undefined;

  constructor(private readonly host: PainterHost) {}

  dispose(): void {
    this.isGone = true;
    cancelAnimationFrame(this.scheduled);
  }

  invalidate(): void {
    if (this.isDue || this.isGone) return;
    this.isDue = true;
    behindMessages(() => {
      if (this.isGone) return;
      this.scheduled = requestAnimationFrame(() => {
        this.isDue = false;
        this.draw();
      });
    });
  }

  /** In the frame that shows the new size: nothing flickers. */
  resized(screen: Screen): void {
    this.screen = screen;
    this.draw();
    this.invalidate();
  }

  /** What is seen now, to be painted here or on another surface. */
  frame(): Frame | undefined {
    const { controller } = this.host;
    const { layout } = controller;
    if (layout === undefined) return undefined;
    const look = this.host.look();
    const { width, height, ratio } = this.screen;
    const rowHeight = rowHeightOf(look.settings);
    // Flames stand on the ground, even few.
    const spare = look.upward ? Math.max(0, height - layout.rows * rowHeight) : 0;
    return {
      layout,
      paints: this.paintsOf(layout),
      ink: inkOf(look.theme),
      placed: controller.placed,
      width,
      height,
      rowHeight,
      top: spare - this.host.scrollTop(),
      upward: look.upward,
      ruler: this.rulerOf(fontOf(look)),
      keepEnds: look.settings.keepEnds,
      ratio,
      searching: look.searching && layout.answer.search !== undefined,
      marks: look.marks,
      fade: controller.fade,
      known: controller.known,
    };
  }

  /** The colours of a layout's boxes; computed once for each look. */
  paintsOf(layout: Layout): Paints {
    const { scheme, theme, settings, hues } = this.host.look();
    const key = `${scheme} ${theme.mode} ${settings.palette}`;
    if (this.paints?.of !== layout || this.paints.key !== key)
      this.paints = { of: layout, key, value: paintsOf(layout, scheme, theme.mode, settings.palette, hues) };
    return this.paints.value;
  }

  private rulerOf(font: string): Ruler {
    if (this.ruler?.font !== font) {
      const context = document.createElement("canvas").getContext("2d");
      if (context !== null) context.font = font;
      this.ruler = { font, measure: rulerOf((ch) => context?.measureText(ch).width ?? 6) };
    }
    return this.ruler.measure;
  }

  private draw(): void {
    const canvas = this.host.canvas();
    if (canvas === null) return;
    const more = this.host.controller.frame(performance.now());
    const frame = this.frame();
    if (frame === undefined) return;
    const look = this.host.look();
    const context = prepare(canvas, this.screen, { alpha: false });
    if (context !== undefined) {
      context.font = fontOf(look);
      context.fontKerning = "none";
      const surface = this.surfaceOf(context);
      surface.rect(0, 0, frame.width, frame.height, frame.ink.ground);
      paint(frame, surface);
      context.save();
      paintOverlay(context, frame, this.host.hovered(), this.host.cursor(), look.theme.accent, look.theme.text);
      context.restore();
    }
    this.host.drawn(frame);
    if (more) this.invalidate();
  }

  /** A canvas that got another size has forgotten how it paints. */
  private surfaceOf(context: CanvasRenderingContext2D): Surface {
    const { width, height } = context.canvas;
    const of = `${width} ${height} ${this.screen.ratio}`;
    if (this.surface?.of !== of) this.surface = { of, value: canvasSurface(context, this.screen.ratio) };
    return this.surface.value;
  }
}

const fontOf = ({ settings, theme }: Look) => `${fontSizeOf(settings)}px ${theme.font}`;
