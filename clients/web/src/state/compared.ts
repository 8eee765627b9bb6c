// Diffs and aggregates, as far as an address and the names of metrics tell of them: who is compared, and which side makes boxes wide.
// The daemon opens `diff://?before=URI&after=URI` (profile/diff), and calls the five metrics of each `cpu` as below.
import type { MetricInfo } from "../../../shared/ts/psp.js";

const SCHEME = "diff://";
const AGGREGATE = "aggregate://";

export const isDiff = (uri: string | undefined): boolean => uri?.startsWith(SCHEME) === true;

/** Several profiles put together: `aggregate://?of=URI&of=URI`. */
export const isAggregate = (uri: string | undefined): boolean => uri?.startsWith(AGGREGATE) === true;

/** Any of those, or what several tools measured of one program (`join://`). */
export const isComposed = (uri: string | undefined): boolean =>
  isDiff(uri) || isAggregate(uri) || uri?.startsWith("join://") === true;

/** What it is made of, in order. */
export const inputsOf = (uri: string): readonly string[] =>
  parametersOf(uri)
    .filter(({ key }) => key === "of")
    .map(({ value }) => decoded(value));

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Parameter {
  readonly key: string;
  /** Encoded, as it stands in the URI. */
  readonly value: string;
}

function parametersOf(uri: string): Parameter[] {
  const query = uri.indexOf("?");
  if (query < 0) return [];
  return uri
    .slice(query + 1)
    .split("&")
    .flatMap((part) => {
      const equals = part.indexOf("=");
      return equals < 0 ? [] : [{ key: part.slice(0, equals), value: part.slice(equals + 1) }];
    });
}

export interface SideUris {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** URIs of the profiles of both sides; `#2` behind one is the second profile in it. */
export function sidesOf(uri: string): SideUris {
  const all = parametersOf(uri);
  const of = (side: string) => all.filter(({ key }) => key === side).map(({ value }) => decoded(value));
  return { before: of("before"), after: of("after") };
}

/** What the values before are multiplied with. */
export const scaleOf = (uri: string): string =>
  parametersOf(uri).find(({ key }) => key === "scale")?.value ?? "automatic";

/** The same diff with one more thing said of how functions are matched: a rule to rename, or `suggested`. */
export function matchedBy(uri: string, how: { readonly rename: string } | { readonly match: string }): string {
  const [key, value] = "rename" in how ? ["rename", how.rename] : ["match", how.match];
  const kept = parametersOf(uri).filter((known) => key === "rename" || known.key !== key);
  const all = [...kept, { key, value: encodeURIComponent(value) }];
  return `${SCHEME}?${all.map((parameter) => `${parameter.key}=${parameter.value}`).join("&")}`;
}

const isSide = ({ key }: Parameter) => key === "before" || key === "after";

/** Filters stand behind the part that they are of. */
function partsOf(all: readonly Parameter[]): { readonly side: Parameter; readonly filters: readonly Parameter[] }[] {
  return all.flatMap((side, at) => {
    if (!isSide(side)) return [];
    const rest = all.slice(at + 1);
    const end = rest.findIndex(({ key }) => key !== "filter");
    return [{ side, filters: end < 0 ? rest : rest.slice(0, end) }];
  });
}

/** The same diff the other way round. */
export function swapped(uri: string): string {
  const all = parametersOf(uri);
  const parts = partsOf(all);
  const of = (from: string, as: string) =>
    parts
      .filter(({ side }) => side.key === from)
      .flatMap(({ side, filters }) => [`${as}=${side.value}`, ...filters.map(({ value }) => `filter=${value}`)]);
  const others = all
    .filter((parameter) => !isSide(parameter) && parameter.key !== "filter")
    .map(({ key, value }) => {
      const turn = key === "metric" ? turned : key === "rename" ? turnedRule : undefined;
      return `${key}=${turn === undefined ? value : encodeURIComponent(turn(decoded(value)))}`;
    });
  return `${SCHEME}?${[...of("after", "before"), ...of("before", "after"), ...others].join("&")}`;
}

/** What of each side is compared, as clauses; "": all of it. */
export function filtersOfSides(uri: string): { readonly before: readonly string[]; readonly after: readonly string[] } {
  const parts = partsOf(parametersOf(uri));
  const of = (wanted: string) =>
    parts
      .filter(({ side }) => side.key === wanted)
      .map(({ filters }) => filters.map(({ value }) => decoded(value)).join(" | "));
  return { before: of("before"), after: of("after") };
}

// Both names are encoded once more: a colon parts them.
function turned(pair: string): string {
  const colon = pair.indexOf(":");
  return colon < 0 ? pair : `${pair.slice(colon + 1)}:${pair.slice(0, colon)}`;
}

// `old=new` as `new=old`. What an expression makes of a name cannot be turned round: the answers say that the rule is of
// no name.
function turnedRule(rule: string): string {
  const equals = rule.indexOf("=");
  const plain = equals > 0 && !/^[/"]/.test(rule) && !rule.slice(equals + 1).includes("=");
  return plain ? `${rule.slice(equals + 1)}=${rule.slice(0, equals)}` : rule;
}

/** What makes the boxes of a diff wide. */
const WIDTHS = ["after", "before", "larger", "difference"] as const;
export type Width = (typeof WIDTHS)[number];

export interface DiffMetric {
  /** The metric of both sides. */
  readonly base: string;
  /** "change": signed, no width to choose. */
  readonly width: Width | "change";
}

const suffixed = (base: string, width: DiffMetric["width"]) => (width === "after" ? base : `${base} ${width}`);

/** What both sides have a metric of; none where the profile is no diff. */
export function basesOf(metrics: readonly Pick<MetricInfo, "name">[]): string[] {
  const names = new Set(metrics.map(({ name }) => name));
  const all = [...WIDTHS, "change"] as const;
  return [...names].filter((base) => all.every((width) => names.has(suffixed(base, width))));
}

/** Which of the five metrics of a diff this is. */
export function diffMetricOf(metrics: readonly Pick<MetricInfo, "name">[], name: string): DiffMetric | undefined {
  for (const base of basesOf(metrics))
    for (const width of [...WIDTHS, "change"] as const) if (suffixed(base, width) === name) return { base, width };
  return undefined;
}

export const metricWith = ({ base }: DiffMetric, width: Width): string => suffixed(base, width);

/** The metric that has the next width. */
export function nextWidth(metric: DiffMetric): { readonly name: string; readonly width: Width } {
  const at = WIDTHS.findIndex((width) => width === metric.width);
  const width = WIDTHS[(at + 1) % WIDTHS.length]!;
  return { name: metricWith(metric, width), width };
}

/** What the next metric is for a reader of a diff: another one of both sides, as wide as this one. */
export function nextBase(metrics: readonly Pick<MetricInfo, "name">[], metric: DiffMetric): string {
  const bases = basesOf(metrics);
  return suffixed(bases[(bases.indexOf(metric.base) + 1) % bases.length]!, metric.width);
}
