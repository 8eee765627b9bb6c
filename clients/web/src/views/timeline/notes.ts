// Markers and counters over time as they are painted, and what is at a place of them.
import { TimelineFlag, type CounterTrack, type MarkerTrack } from "../../../../shared/ts/psp.js";
import { css, groupTone, TEXT } from "../../draw/colors.js";
import type { Ink, Surface } from "../../draw/paint.js";
import { shown } from "../../draw/shown.js";
import { cutName, type Ruler } from "../../draw/text.js";
import type { Palette } from "../../state/state.js";
import { lengthOf } from "./span.js";
import type { Span } from "../../state/windows.js";

export const LANE_HEIGHT = 15;
export const COUNTER_HEIGHT = 32;
const MIN_LABEL = 24;
const PADDING = 3;

/** What was answered, and what is looked at, which may have moved on since. */
export interface Sight {
  readonly from: number;
  readonly span: Span;
  readonly width: number;
}

const xOf = ({ from, span, width }: Sight, x: number) => ((from + x - span.from) / lengthOf(span)) * width;

export const markerHeight = ({ lanes }: MarkerTrack) => Math.max(1, lanes) * LANE_HEIGHT;

/** A marker that takes no time is a tick that can be seen. */
function edgesOf(sight: Sight, x: number, length: number): readonly [number, number] {
  const left = xOf(sight, x);
  return [Math.max(-2, left), Math.min(sight.width + 2, Math.max(left + 2, xOf(sight, x + length)))];
}

export function paintMarkers(
  sight: Sight,
  track: MarkerTrack,
  names: readonly string[],
  surface: Surface,
  look: { readonly ink: Ink; readonly palette: Palette; readonly ruler: Ruler },
): void {
  const { ink, palette, ruler } = look;
  const { boxes } = track;
  const text = ink.forced ? ink.edge : css(TEXT[ink.mode]);
  boxes.lane.forEach((lane, i) => {
    const [left, right] = edgesOf(sight, boxes.x[i]!, boxes.width[i]!);
    if (right <= 0 || left >= sight.width) return;
    const y = lane * LANE_HEIGHT;
    const room = right - left;
    const drawn = room > 3.5 ? room - 1 : Math.max(1.5, room);
    const name = names[boxes.name[i]!];
    const one = boxes.count[i] === 1;
    if (ink.forced) surface.rect(left, y, drawn, LANE_HEIGHT - 2, ink.edge);
    else if (name === undefined) surface.rect(left, y, drawn, LANE_HEIGHT - 2, ink.hatch);
    else {
      const fill = css(groupTone(ink.mode, palette, name, name));
      if (one) surface.rect(left, y, drawn, LANE_HEIGHT - 2, fill);
      else surface.hatch(left, y, drawn, LANE_HEIGHT - 2, ink.hatch, fill);
    }
    const from = Math.max(0, left);
    const inside = Math.min(sight.width, right) - from;
    if (name === undefined || inside < MIN_LABEL || ink.forced) return;
    const label = cutName(one ? shown(name) : `${boxes.count[i]} × ${shown(name)}`, [], inside - 2 * PADDING, ruler);
    if (label !== "") surface.text(from + PADDING, y + (LANE_HEIGHT - 2) / 2, label, text);
  });
}

export interface FoundNote {
  readonly name: string;
  readonly text: string;
  readonly span?: Span;
}

export function markerAt(
  sight: Sight,
  track: MarkerTrack,
  names: readonly string[],
  x: number,
  y: number,
): FoundNote | undefined {
  const lane = Math.floor(y / LANE_HEIGHT);
  const { boxes } = track;
  for (let i = boxes.lane.length - 1; i >= 0; --i) {
    if (boxes.lane[i] !== lane) continue;
    const [left, right] = edgesOf(sight, boxes.x[i]!, boxes.width[i]!);
    if (x < left - 1 || x >= right + 1) continue;
    const from = sight.from + boxes.x[i]!;
    const text = boxes.text[i]!;
    const open = (boxes.flags[i]! & TimelineFlag.open) !== 0;
    return {
      name: names[boxes.name[i]!] ?? "Several markers",
      text: text === "" ? "takes no time" : text,
      span: { from, to: from + Math.max(1, boxes.width[i]! - (open ? 1 : 0)) },
    };
  }
  return undefined;
}

/** The line of a counter: the value holds until the next point; where several points share a column, all between its least
 * and its largest. */
export function paintCounter(sight: Sight, counter: CounterTrack, surface: Surface, color: string, ink: Ink): void {
  const { points } = counter;
  const low = Math.min(0, counter.low);
  const high = Math.max(0, counter.high);
  const height = COUNTER_HEIGHT - 4;
  const yOf = (value: number) => 2 + height - ((value - low) / Math.max(1e-300, high - low)) * height;
  const zero = yOf(0);
  surface.rect(0, zero, sight.width, 1, ink.forced ? ink.edge : ink.faint);
  let value = counter.before;
  let at = 0;
  const holdUntil = (x: number) => {
    const to = Math.min(sight.width, x);
    if (value !== undefined && to > at) {
      const y = yOf(value);
      surface.alpha(0.35);
      surface.rect(at, Math.min(y, zero), to - at, Math.abs(zero - y), color);
      surface.alpha(1);
      surface.rect(at, y - 0.5, to - at, 1.5, color);
    }
    at = Math.max(at, to);
  };
  points.x.forEach((x, i) => {
    const left = xOf(sight, x);
    holdUntil(Math.max(0, left));
    if (left >= 0 && left < sight.width) {
      const top = yOf(Math.max(points.high[i]!, value ?? points.high[i]!));
      const bottom = yOf(Math.min(points.low[i]!, value ?? points.low[i]!));
      surface.rect(left, top - 0.5, 1, Math.max(1.5, bottom - top + 1), color);
    }
    value = points.last[i]!;
  });
  holdUntil(sight.width);
}

/** The value that holds at a place, in numbers: the texts of the answer are of the whole window. */
export function counterAt(sight: Sight, counter: CounterTrack, x: number): FoundNote {
  const { points } = counter;
  let i = -1;
  while (i + 1 < points.x.length && xOf(sight, points.x[i + 1]!) <= x) ++i;
  const value = i < 0 ? counter.before : points.last[i];
  const exact = (n: number) => n.toLocaleString("en", { maximumFractionDigits: 6 });
  const several =
    i >= 0 && points.count[i]! > 1
      ? `, ${points.count[i]!.toLocaleString("en")} points between ${exact(points.low[i]!)} and ${exact(points.high[i]!)}`
      : "";
  return {
    name: counter.name,
    text:
      value === undefined
        ? "not known yet here"
        : `${exact(value)}${counter.unit === "" ? "" : ` ${counter.unit}`}${several}${counter.sums ? ", since the beginning" : ""}`,
  };
}
