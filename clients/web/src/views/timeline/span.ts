// Windows of time: what is looked at, and what is kept of it. Whole nanoseconds; `to` is after `from`.
import type { Span } from "../../state/windows.js";

export const lengthOf = ({ from, to }: Span) => to - from;

/** In whole nanoseconds and inside of `all`; the length stays where there is room for it. */
export function held({ from, to }: Span, all: Span): Span {
  const length = Math.min(Math.max(1, Math.round(to - from)), lengthOf(all));
  const first = Math.min(Math.max(Math.round(from), all.from), all.to - length);
  return { from: first, to: first + length };
}

/** With no more digits than a hand can mean that has a pixel for every `pixel` nanoseconds. */
export function rounded({ from, to }: Span, pixel: number): Span {
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, pixel))));
  const first = Math.round(from / step) * step;
  return { from: first, to: Math.max(first + step, Math.round(to / step) * step) };
}

/** `factor` above 1 shows less; what is at `at` stays where it is. */
export function zoomed(span: Span, all: Span, at: number, factor: number): Span {
  const length = Math.max(1, lengthOf(span) / factor);
  const share = (at - span.from) / lengthOf(span);
  const from = at - share * length;
  return held({ from, to: from + length }, all);
}

/** Moved by a part of its length. */
export const moved = (span: Span, all: Span, part: number): Span =>
  held({ from: span.from + part * lengthOf(span), to: span.to + part * lengthOf(span) }, all);

const UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
] as const;

/** Moments at which an axis has a mark, at least `apart` nanoseconds from each other, in numbers that are round. */
export function marksOf(span: Span, apart: number): { readonly at: number; readonly text: string }[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, apart)));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= apart) ?? power * 10);
  const largest = Math.max(Math.abs(span.from), Math.abs(span.to));
  const [unit, size] = UNITS.find(([, ns]) => largest >= ns) ?? UNITS[3];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const marks = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to; at += step)
    marks.push({ at, text: `${(at / size).toFixed(digits)} ${unit}` });
  return marks;
}
