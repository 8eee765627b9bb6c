// The picture of a layout, painted on any surface: the canvas, an SVG text, a list for tests.
import { BoxFlag } from "../../../shared/ts/psp.js";
import { css, TEXT, type Mode, type Paints } from "./colors.js";
import { cutsOf, isOneSided, isRemainder, labelOf, markOf, type Layout } from "./layout.js";
import type { Placed } from "./motion.js";
import { cutName, cutStart, type Ruler } from "./text.js";

export interface Surface {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  /** A dashed line just inside: of what one side of a diff alone has. */
  edge(x: number, y: number, width: number, height: number, ink: string): void;
  /** Of joined siblings. */
  hatch(x: number, y: number, width: number, height: number, ink: string, ground: string): void;
  /** `y`: the middle of the text. */
  text(x: number, y: number, text: string, fill: string): void;
  alpha(value: number): void;
}

/** Colours that are the page's, not the boxes'. */
export interface Ink {
  readonly mode: Mode;
  readonly ground: string;
  readonly faint: string;
  readonly match: string;
  readonly matchText: string;
  readonly unmatched: string;
  readonly unmatchedText: string;
  readonly hatch: string;
  readonly muted: string;
  /** Forced colours: one fill, edges instead of hues. */
  readonly forced: boolean;
  readonly edge: string;
}

export interface Frame {
  readonly layout: Layout;
  readonly paints: Paints;
  readonly ink: Ink;
  readonly placed: Placed;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  /** Of the first row, in pixels from the top; negative when scrolled. */
  readonly top: number;
  readonly upward: boolean;
  readonly ruler: Ruler;
  /** What is too long keeps its end. */
  readonly keepEnds: boolean;
  readonly ratio: number;
  /** A search is on: what does not match steps back. */
  readonly searching: boolean;
  /** The colours of the highlighted sets that the layout was asked with. */
  readonly marks: readonly string[];
  /** 0 to 1: how far new boxes have come in. */
  readonly fade: number;
  readonly known: Uint8Array | undefined;
}

const MIN_LABEL = 24;
/** Narrower boxes have no room for an edge. */
const MIN_EDGED = 5;
const PADDING = 4;

/** The line of the picture that a row is on, and the other way round. */
export const lineOf = (layout: Pick<Layout, "rows">, upward: boolean, row: number) =>
  upward ? layout.rows - 1 - row : row;

export function rowTop(frame: Pick<Frame, "rowHeight" | "top" | "upward" | "layout">, row: number): number {
  return frame.top + lineOf(frame.layout, frame.upward, row) * frame.rowHeight;
}

/** That of the first highlighted set that a box is of. */
function markColor({ layout, marks }: Frame, item: number): string | undefined {
  const bits = layout.answer.boxes.highlights?.[item] ?? 0;
  return bits === 0 ? undefined : marks[31 - Math.clz32(bits & -bits)];
}

/** First and last row that can be seen. */
export function visibleRows(frame: Frame): readonly [number, number] {
  const first = Math.floor(-frame.top / frame.rowHeight);
  const last = Math.floor((frame.height - frame.top) / frame.rowHeight);
  const one = lineOf(frame.layout, frame.upward, first);
  const other = lineOf(frame.layout, frame.upward, last);
  return [Math.max(0, Math.min(one, other)), Math.min(frame.layout.rows - 1, Math.max(one, other))];
}

export function paint(frame: Frame, surface: Surface): void {
  const { layout, paints, ink, placed, width, rowHeight } = frame;
  const [low, high] = visibleRows(frame);
  // Half a pixel of the screen is the least that is drawn as a box of its own.
  const least = 0.5 / frame.ratio;
  const gap = frame.rowHeight >= 10 ? 1 : 0;
  const snap = (v: number) => Math.round(v * frame.ratio) / frame.ratio;
  const visible = (i: number) => {
    const row = layout.depth[i]!;
    if (row < low || row > high) return false;
    const x = placed.x[i]!;
    const w = placed.w[i]!;
    return x < width && x + w > 0 && w >= least;
  };
  const box = (i: number): readonly [number, number] => {
    const x0 = snap(Math.max(-2, placed.x[i]!));
    const x1 = snap(Math.min(width + 2, placed.x[i]! + placed.w[i]!));
    const room = x1 - x0;
    return [x0, room > 2.5 ? room - gap : Math.max(room, 1 / frame.ratio)];
  };
  const fillOf = (i: number): string => {
    if (ink.forced) return matches(i) ? ink.match : ink.ground;
    const mark = markColor(frame, i);
    if (mark !== undefined) return mark;
    if (frame.searching) {
      if ((layout.flags[i]! & BoxFlag.matched) !== 0) return ink.match;
      return ink.unmatched;
    }
    return paints.fills[paints.fill[i]!]!;
  };
  const matches = (i: number) => frame.searching && (layout.flags[i]! & BoxFlag.matched) !== 0;
  const cameIn = (i: number) => frame.known === undefined || frame.known[i] === 1;

  for (let pass = 0; pass < 2; ++pass) {
    const fresh = pass === 1;
    if (fresh && (frame.fade >= 1 || frame.known === undefined)) break;
    surface.alpha(fresh ? frame.fade : 1);
    for (const i of paints.byFill) {
      if (!visible(i) || (frame.fade < 1 && cameIn(i) === fresh)) continue;
      const [x, w] = box(i);
      const y = rowTop(frame, layout.depth[i]!);
      if (ink.forced) {
        surface.rect(x, y, w, rowHeight - gap, ink.edge);
        surface.rect(x + 1, y + 1, Math.max(0, w - 2), rowHeight - gap - 2, fillOf(i));
      } else surface.rect(x, y, w, rowHeight - gap, fillOf(i));
    }
    if (fresh) surface.alpha(1);
  }

  surface.alpha(frame.fade < 1 ? frame.fade : 1);
  for (let i = layout.boxes; i < layout.size; ++i) {
    if (!visible(i)) continue;
    const [x, w] = box(i);
    surface.hatch(x, rowTop(frame, layout.depth[i]!), w, rowHeight - gap, ink.hatch, ink.faint);
  }
  if (layout.answer.changes !== undefined) {
    const edge = ink.forced ? ink.edge : css(TEXT[ink.mode]);
    for (let i = 0; i < layout.boxes; ++i) {
      if (!isOneSided(layout, i) || !visible(i)) continue;
      const [x, w] = box(i);
      // Where every box has an edge this one is inside it.
      const inset = ink.forced ? 2 : 0;
      if (w >= MIN_EDGED + 2 * inset)
        surface.edge(
          x + inset,
          rowTop(frame, layout.depth[i]!) + inset,
          w - 2 * inset,
          rowHeight - gap - 2 * inset,
          edge,
        );
    }
  }
  surface.alpha(1);

  // Where one came from steps back behind where one is.
  if (layout.zoomed > 0 && !ink.forced) {
    surface.alpha(0.45 * frame.fade);
    const top = Math.max(low, 0);
    for (let row = top; row < Math.min(layout.zoomed, high + 1); ++row)
      surface.rect(0, rowTop(frame, row), width, rowHeight, ink.ground);
    surface.alpha(1);
  }

  const textFill = ink.forced ? ink.edge : css(TEXT[ink.mode]);
  for (let row = low; row <= high; ++row) {
    const middle = rowTop(frame, row) + rowHeight / 2;
    for (let at = layout.rowStart[row]!; at < layout.rowStart[row + 1]!; ++at) {
      const i = layout.rowItems[at]!;
      const x = Math.max(0, placed.x[i]!);
      const room = Math.min(width, placed.x[i]! + placed.w[i]!) - x;
      if (room < MIN_LABEL) continue;
      // The mark goes first where room is short: the tooltip says it too.
      const name = labelOf(layout, i);
      const marked = name + markOf(layout, i, ink.forced);
      const inside = room - 2 * PADDING;
      const short = () =>
        frame.keepEnds && !isRemainder(layout, i)
          ? cutStart(name, inside, frame.ruler)
          : cutName(name, cutsOf(layout, i), inside, frame.ruler);
      const label = marked !== name && frame.ruler(marked)[marked.length]! <= inside ? marked : short();
      if (label === "") continue;
      let fill = ink.forced && matches(i) ? ink.matchText : textFill;
      if (!ink.forced && isRemainder(layout, i)) fill = ink.muted;
      else if (!ink.forced && frame.searching)
        fill = (layout.flags[i]! & BoxFlag.matched) !== 0 ? ink.matchText : ink.unmatchedText;
      else if (markColor(frame, i) !== undefined) fill = ink.matchText;
      surface.text(x + PADDING, middle, label, fill);
    }
  }
}
