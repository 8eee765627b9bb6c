// A track as it is painted: its load, and below it the boxes of its flame chart.
import type { TimelineChart, TimelineResult, TimelineTrack } from "../../../../shared/ts/psp.js";
import { css, groupTone, TEXT } from "../../draw/colors.js";
import { shown } from "../../draw/shown.js";
import { cutName, type Ruler } from "../../draw/text.js";
import type { Ink, Surface } from "../../draw/paint.js";
import type { Palette } from "../../state/state.js";
import type { Span } from "../../state/windows.js";

export const LOAD_HEIGHT = 26;
export const ROW_HEIGHT = 18;
const PADDING = 4;
const MIN_LABEL = 24;

export interface TrackPicture {
  readonly answer: TimelineResult;
  readonly track: TimelineTrack;
  readonly chart: TimelineChart | undefined;
  /** What is looked at, which may have moved on since the answer. */
  readonly span: Span;
  readonly width: number;
}

/** The rows that have boxes here. */
export const rowsOf = (chart: TimelineChart | undefined) =>
  chart === undefined ? 0 : chart.boxes.depth.reduce((most, depth) => Math.max(most, depth + 1), 1);

export const heightOf = (chart: TimelineChart | undefined) => LOAD_HEIGHT + rowsOf(chart) * ROW_HEIGHT;

/** Left and right edge of something that begins `x` nanoseconds after the answer's window. */
function placed({ answer, span, width }: TrackPicture, x: number, length: number): readonly [number, number] {
  const scale = width / (span.to - span.from);
  const left = (answer.from - span.from + x) * scale;
  return [Math.max(-2, left), Math.min(width + 2, Math.max(left + 1, left + length * scale))];
}

export function paintTrack(
  picture: TrackPicture,
  surface: Surface,
  look: { readonly ink: Ink; readonly accent: string; readonly palette: Palette; readonly ruler: Ruler },
): void {
  const { answer, track, chart, width } = picture;
  const { ink, palette, ruler } = look;
  const columns = Math.max(1, track.load.length);
  const column = (answer.to - answer.from) / columns;
  surface.rect(0, LOAD_HEIGHT - 1, width, 1, ink.forced ? ink.edge : ink.faint);
  track.load.forEach((load, i) => {
    if (!(load > 0)) return;
    // On whole pixels: columns side by side have no seam.
    const [left, right] = placed(picture, i * column, column).map(Math.round) as [number, number];
    if (right <= 0 || left >= width) return;
    const height = Math.max(1, Math.min(1, load / Math.max(1e-12, answer.full)) * (LOAD_HEIGHT - 4));
    surface.rect(left, LOAD_HEIGHT - 1 - height, Math.max(1, right - left), height, look.accent);
  });
  if (chart === undefined) return;
  chart.gaps.x.forEach((x, i) => {
    const [left, right] = placed(picture, x, chart.gaps.width[i]!);
    if (right > 0 && left < width)
      surface.hatch(left, LOAD_HEIGHT, right - left, ROW_HEIGHT - 1, ink.hatch, ink.ground);
  });
  const { boxes } = chart;
  const text = ink.forced ? ink.edge : css(TEXT[ink.mode]);
  boxes.depth.forEach((depth, i) => {
    const [left, right] = placed(picture, boxes.x[i]!, boxes.width[i]!);
    if (right <= 0 || left >= width) return;
    const y = LOAD_HEIGHT + depth * ROW_HEIGHT;
    const room = right - left;
    const drawn = room > 2.5 ? room - 1 : Math.max(1, room);
    const row = boxes.name[i]!;
    if (row < 0) {
      surface.rect(left, y, drawn, ROW_HEIGHT - 1, ink.forced ? ink.edge : ink.hatch);
      return;
    }
    const name = answer.names[row]!;
    const group = answer.groups?.[answer.named?.group[row] ?? -1] ?? "";
    if (ink.forced) {
      surface.rect(left, y, drawn, ROW_HEIGHT - 1, ink.edge);
      surface.rect(left + 1, y + 1, Math.max(0, drawn - 2), ROW_HEIGHT - 3, ink.ground);
    } else surface.rect(left, y, drawn, ROW_HEIGHT - 1, css(groupTone(ink.mode, palette, group, name)));
    const from = Math.max(0, left);
    const inside = Math.min(width, right) - from;
    if (inside < MIN_LABEL) return;
    const label = cutName(shown(answer.labels[row]!), answer.cuts?.[row] ?? [], inside - 2 * PADDING, ruler);
    if (label !== "") surface.text(from + PADDING, y + ROW_HEIGHT / 2, label, text);
  });
}

/** What is at a place: a box, a gap, or the load; its name and what is known of it. */
export interface Found {
  readonly name: string;
  readonly text: string;
  /** The box, as a window. */
  readonly span?: Span;
}

export function findIn(picture: TrackPicture, x: number, y: number): Found | undefined {
  const { answer, track, chart } = picture;
  if (y < LOAD_HEIGHT || chart === undefined)
    return { name: track.name, text: `${track.loadText}, ${track.amount.text}` };
  const { boxes, gaps } = chart;
  const depth = Math.floor((y - LOAD_HEIGHT) / ROW_HEIGHT);
  const covers = (at: number, length: number) => {
    const [left, right] = placed(picture, at, length);
    return x >= left && x < right;
  };
  for (let i = boxes.depth.length - 1; i >= 0; --i) {
    if (boxes.depth[i] !== depth || !covers(boxes.x[i]!, boxes.width[i]!)) continue;
    const from = answer.from + boxes.x[i]!;
    const span = { from, to: from + Math.max(1, boxes.width[i]!) };
    const row = boxes.name[i]!;
    if (row < 0)
      return { name: boxes.text[i]!, text: "Too narrow to be drawn alone; double-click to look closer.", span };
    return { name: answer.names[row]!, text: boxes.text[i]!, span };
  }
  const gap = gaps.x.findIndex((at, i) => covers(at, gaps.width[i]!));
  if (gap < 0 || depth > 0) return undefined;
  const from = answer.from + gaps.x[gap]!;
  return {
    name: gaps.text[gap]!,
    text: "Nothing is known of the thread here.",
    span: { from, to: from + gaps.width[gap]! },
  };
}
