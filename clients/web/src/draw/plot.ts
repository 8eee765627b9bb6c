// What a plot shows, out of the daemon's answer: columns of points and of bins, and the few marks of its axes, whose texts
// are the daemon's.
import type { SeriesResult } from "../../../shared/ts/psp.js";

export interface Mark {
  readonly at: number;
  readonly text: string;
}

export interface PlotData {
  /** Ascending. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly xRange: readonly [number, number];
  readonly yRange: readonly [number, number];
  readonly marks: readonly Mark[];
  /** A line across: the mean. */
  readonly level?: number;
  /** What is said of a point. */
  readonly says: (at: number) => string;
}

/** Marks that are closer than this share of the axis would lie upon each other: the later one is left out. */
const APART = 0.16;

function apart(marks: readonly Mark[], [low, high]: readonly [number, number]): Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks) if (kept.every(({ at }) => Math.abs(at - mark.at) >= APART * (high - low))) kept.push(mark);
  return kept.sort((a, b) => a.at - b.at);
}

const widened = ([low, high]: readonly [number, number]): readonly [number, number] =>
  high > low ? [low, high] : [low - 0.5, low + 0.5];

/** The values in order of the profiles, or of their times. */
export function seriesPlot({ points, spread }: SeriesResult): PlotData | undefined {
  if (spread === undefined || points.value.length === 0) return undefined;
  const x = points.seconds ?? points.input;
  const low = Math.min(0, spread.min);
  const high = Math.max(0, spread.max);
  const yRange = widened([low, high]);
  return {
    x,
    y: points.value,
    xRange: widened([x[0]!, x.at(-1)!]),
    yRange,
    marks: apart(
      [
        { at: spread.max, text: spread.maxText },
        { at: 0, text: "0" },
        { at: spread.mean, text: spread.meanText },
        { at: spread.min, text: spread.minText },
      ],
      yRange,
    ),
    level: spread.mean,
    says: (at) => `${points.name[at] ?? ""}: ${points.text[at] ?? ""}`,
  };
}

/** How many profiles have how much. */
export function histogramPlot({ histogram }: SeriesResult): PlotData | undefined {
  if (histogram === undefined || histogram.counts.length === 0) return undefined;
  const { counts, edges, edgeTexts } = histogram;
  const most = Math.max(...counts);
  return {
    x: edges.slice(0, -1),
    y: counts,
    xRange: widened([edges[0]!, edges.at(-1)!]),
    yRange: [0, most],
    marks: [
      { at: 0, text: "0" },
      { at: most, text: most.toLocaleString("en") },
    ],
    says: (at) => {
      const profiles = counts[at] === 1 ? "profile" : "profiles";
      const [from = "", to = ""] = [edgeTexts[at], edgeTexts[at + 1]];
      return `${(counts[at] ?? 0).toLocaleString("en")} ${profiles}: ${from === to ? from : `${from} to ${to}`}`;
    },
  };
}

/** A series as a line in so many pixels, from the ground to its largest value; "" without values. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const size = most - least || 1;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const at = (value: number, i: number) =>
    `${(i * step).toFixed(1)} ${(height - ((value - least) / size) * height).toFixed(1)}`;
  if (values.length === 1) return `M${at(values[0]!, 0)}H${width}`;
  return values.map((value, i) => `${i === 0 ? "M" : "L"}${at(value, i)}`).join("");
}
