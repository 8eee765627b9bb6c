// Where the reader is: what the address holds. A copied address restores it, so it has names and texts, and no keys
// or handles, which are good for one revision and one daemon.
import type { BoxOrder, Filter, Granularity, ViewShape } from "../../../shared/ts/psp.js";
import { isAggregate, isDiff } from "./compared.js";
import { filterText, parseClause, parseSpec, specText, type Spec } from "./spec.js";

export const VIEW_IDS = [
  "flame",
  "tree",
  "flat",
  "sandwich",
  "source",
  "threads",
  "profile",
  "timeline",
  "open",
  "correlate",
  "analyses",
  "markers",
  "heatmap",
  "live",
] as const;
export type ViewId = (typeof VIEW_IDS)[number];

/** "change": of diffs; these are of aggregates: how the values of its profiles lie. */
export const SPREAD_SCHEMES = ["imbalance", "variation", "lost", "median", "p95", "max"] as const;
export const COLOR_SCHEMES = [
  "module",
  "name",
  "kind",
  "work",
  "metric",
  "source",
  "change",
  ...SPREAD_SCHEMES,
] as const;
export type ColorScheme = (typeof COLOR_SCHEMES)[number];

/** A metric by formula. */
export interface Formula {
  readonly name: string;
  readonly formula: string;
  /** "": that of the formula. */
  readonly unit: string;
}

/** In an address: no formula has a "=". */
const formulaText = ({ name, formula, unit }: Formula) => [name, formula, ...(unit === "" ? [] : [unit])].join("=");
function formulaOf(text: string): Formula | undefined {
  const [name = "", formula = "", ...unit] = text.split("=");
  return name === "" || formula === "" ? undefined : { name, formula, unit: unit.join("=") };
}

/** A filter that may be switched off and stays at its place. */
export interface Chip {
  readonly filter: Filter;
  readonly on: boolean;
}

/** Of rows of an aggregate, the most first. */
export const SPREAD_SORTS = [
  "sum",
  "lost",
  "max",
  "deviation",
  "imbalance",
  "mean",
  "median",
  "p90",
  "p95",
  "p99",
  "variation",
] as const;
export type SpreadSortBy = (typeof SPREAD_SORTS)[number];

export const SORTS = ["self", "total", "name", "change", "worse", "better", ...SPREAD_SORTS] as const;

export interface SortBy {
  /** "change", "worse", "better": of diffs; those of SPREAD_SORTS: of aggregates. */
  readonly by: (typeof SORTS)[number];
  readonly descending: boolean;
  /** Of a list: by this metric in place of the one that is shown. */
  readonly metric?: string;
}

/** "beside": a function's instructions stand beside its source; "only": in place of it. */
export const ASM_MODES = ["", "beside", "only"] as const;
export type AsmMode = (typeof ASM_MODES)[number];

/** What the parts of a function are that stand beside its source; "": they do not. */
export const WITHIN = ["", "auto", "line", "address", "bytecode"] as const;
export type Within = (typeof WITHIN)[number];

export interface Place {
  /** URI of the file; undefined: the daemon's default profile. */
  readonly profile: string | undefined;
  /** Which profile of the file, from 1. */
  readonly member: number;
  readonly view: ViewId;
  /** Of the flame graph and the tree table. */
  readonly shape: ViewShape;
  readonly granularity: Granularity;
  readonly focus: readonly string[];
  readonly metric: string;
  readonly chips: readonly Chip[];
  /** Metrics that this reader has defined; a copied address has them, too. */
  readonly formulas: readonly Formula[];
  /** Hashes of the names from below the root to the zoomed box. */
  readonly zoom: readonly string[];
  readonly search: string;
  readonly order: BoxOrder;
  readonly color: ColorScheme;
  readonly colorMetric: string;
  /** The root at the bottom. */
  readonly upward: boolean;
  /** Of a file that has calls and no stacks: only the paths that the calls prove. */
  readonly proven: boolean;
  /** The function of the sandwich. */
  readonly fn: string;
  readonly file: string;
  readonly line: number;
  /** Of the source: whether its assembly is shown. */
  readonly asm: AsmMode;
  /** Which piece of the function's code, from 0. */
  readonly piece: number;
  readonly within: Within;
  readonly sort: SortBy;
  /** Of a diff: rows that nothing became of are left out, where the order is by change. */
  readonly changedOnly: boolean;
  /** Of a diff: before, after and the difference beside each other. */
  readonly panes: boolean;
  /** Of an aggregate: its table says how totals lie, not selfs. */
  readonly ofTotals: boolean;
  /** Of an aggregate: conditions that the rows of its table hold, with commas between them. */
  readonly where: string;
  /** Of records of several contexts: what is chosen in roles, as filters of the others. */
  readonly links: readonly Filter[];
  /** Of running programs: the session and the time that are held, `live-1 12000000000`. */
  readonly held: string;
}

export const isByChange = ({ by }: SortBy) => by === "change" || by === "worse" || by === "better";

export const START: Place = {
  profile: undefined,
  member: 1,
  view: "flame",
  shape: "topDown",
  granularity: "function",
  focus: [],
  metric: "",
  chips: [],
  formulas: [],
  zoom: [],
  search: "",
  order: "name",
  color: "module",
  colorMetric: "",
  upward: false,
  proven: false,
  fn: "",
  file: "",
  line: 0,
  asm: "",
  piece: 0,
  within: "",
  sort: { by: "self", descending: true },
  changedOnly: false,
  panes: false,
  ofTotals: false,
  where: "",
  links: [],
  held: "",
};

/** Where a reader of a profile starts: at what became of it, where it is a diff. */
export function startOf(profile: string | undefined, member = 1): Place {
  const start = { ...START, profile, member };
  if (isAggregate(profile)) return { ...start, sort: { by: "sum", descending: true } };
  return isDiff(profile) ? { ...start, color: "change", sort: { by: "change", descending: true } } : start;
}

/** How uneven its profiles are is a colour of an aggregate alone. */
export const spreadSchemeOf = ({ color, profile }: Pick<Place, "color" | "profile">) =>
  isAggregate(profile) ? SPREAD_SCHEMES.find((scheme) => scheme === color) : undefined;

/** Only of a diff boxes can be coloured by what became of them, only of an aggregate by how uneven it is. */
export function schemeOf(place: Place): ColorScheme {
  const { color, profile } = place;
  if (color === "change" && !isDiff(profile)) return "module";
  return SPREAD_SCHEMES.some((scheme) => scheme === color) && spreadSchemeOf(place) === undefined ? "module" : color;
}

/** The order of an aggregate's rows. */
export const spreadSortOf = ({ sort }: Pick<Place, "sort">): SpreadSortBy =>
  SPREAD_SORTS.find((by) => by === sort.by) ?? "sum";

/** Only a diff has an order by change. */
export const sortOf = ({ sort, profile }: Place): SortBy =>
  (isByChange(sort) && !isDiff(profile)) || SPREAD_SORTS.some((by) => by === sort.by) ? START.sort : sort;

export function filtersOf(place: Place): Filter[] {
  return place.chips.filter((chip) => chip.on).map((chip) => chip.filter);
}

export function specOf(place: Place, shape: ViewShape = place.shape): Spec {
  const focused = shape === "callers" || shape === "callees";
  return {
    shape,
    granularity: place.granularity,
    filters: filtersOf(place),
    metric: place.metric,
    focus: focused ? place.focus : [],
    ...(place.proven ? { paths: "proven" as const } : {}),
  };
}

/** 32 bits of FNV-1a in base 36: short enough for one name a level in an address. */
export function nameHash(name: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) {
    const unit = name.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >> 8), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

// Readable where an address may be: a space is +, and what a path or a spec has stays.
function encoded(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll("%2F", "/")
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%7C", "|");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** The fragment of the address, without its #. */
export function toAddress(place: Place): string {
  const parts: string[] = [];
  const put = (key: string, value: string | undefined, standard: string) => {
    if (value !== undefined && value !== standard) parts.push(`${key}=${encoded(value)}`);
  };
  put("open", place.profile, "");
  put("member", String(place.member), "1");
  put("tab", place.view, START.view);
  put("view", specText({ ...specOf(place), focus: place.focus }), specText(specOf(START)));
  place.chips.forEach((chip, at) => {
    if (!chip.on) parts.push(`off=${encoded(`${at} ${filterText(chip.filter)}`)}`);
  });
  for (const formula of place.formulas) parts.push(`derive=${encoded(formulaText(formula))}`);
  put("zoom", place.zoom.join("."), "");
  put("search", place.search, "");
  put("order", place.order, START.order);
  const { color, sort } = startOf(place.profile);
  put("color", place.color, color);
  put("by", place.colorMetric, "");
  put("up", place.upward ? "1" : "", "");
  put("function", place.fn, "");
  put("file", place.file, "");
  put("line", String(place.line), "0");
  put("asm", place.asm, START.asm);
  put("piece", String(place.piece), "0");
  put("within", place.within, START.within);
  put("sort", (place.sort.descending ? "" : "-") + place.sort.by, sort.by);
  put("sortby", place.sort.metric, "");
  put("changed", place.changedOnly ? "1" : "", "");
  put("panes", place.panes ? "1" : "", "");
  put("of", place.ofTotals ? "total" : "", "");
  put("where", place.where, "");
  put("held", place.held, "");
  for (const filter of place.links) parts.push(`link=${encoded(filterText(filter))}`);
  return parts.join("&");
}

const oneOf = <T extends string>(values: readonly T[], value: string | undefined, standard: T): T =>
  values.find((v) => v === value) ?? standard;

const count = (text: string | undefined, standard: number): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : standard;

/** As many as a profile may have. */
const MOST_FORMULAS = 64;

/** All files that an address asks for; the first is the one shown. */
export function filesOf(fragment: string): string[] {
  return fragment
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part.startsWith("open="))
    .map((part) => decoded(part.slice(5)));
}

/** What of an address could be read, and a sentence on what could not. */
export function fromAddress(fragment: string): { place: Place; problem?: string } {
  const values = new Map<string, string>();
  const off: string[] = [];
  const linked: string[] = [];
  const formulas: Formula[] = [];
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const key = part.slice(0, equals);
    const value = decoded(part.slice(equals + 1));
    if (key === "off") off.push(value);
    else if (key === "link") linked.push(value);
    else if (key === "derive") {
      const formula = formulaOf(value);
      if (formula !== undefined && formulas.length < MOST_FORMULAS) formulas.push(formula);
    } else if (key !== "open" || !values.has(key)) values.set(key, value);
  }
  let spec: Spec = specOf(START);
  let problem: string | undefined;
  const text = values.get("view");
  if (text !== undefined) {
    try {
      spec = parseSpec(text);
    } catch (error) {
      problem = `The address has a view that cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  const chips: Chip[] = spec.filters.map((filter) => ({ filter, on: true }));
  for (const item of off) {
    const space = item.indexOf(" ");
    try {
      const clause = parseClause(item.slice(space + 1));
      if ("filter" in clause)
        chips.splice(count(item.slice(0, space), chips.length), 0, { filter: clause.filter, on: false });
    } catch {
      problem ??= "The address has a filter that cannot be read; it was left out.";
    }
  }
  const links: Filter[] = [];
  for (const item of linked) {
    try {
      const clause = parseClause(item);
      if ("filter" in clause && clause.filter.linked !== undefined) links.push(clause.filter);
    } catch {
      problem ??= "The address has a choice that cannot be read; it was left out.";
    }
  }
  const start = startOf(values.get("open"));
  const sort = values.get("sort") ?? start.sort.by;
  const place: Place = {
    profile: values.get("open"),
    member: Math.max(1, count(values.get("member"), 1)),
    view: oneOf(VIEW_IDS, values.get("tab"), START.view),
    shape: spec.shape === "flat" ? "topDown" : spec.shape,
    granularity: spec.granularity,
    focus: spec.focus,
    metric: spec.metric,
    chips,
    formulas,
    zoom: (values.get("zoom") ?? "").split(".").filter((hash) => /^[0-9a-z]{1,7}$/.test(hash)),
    search: values.get("search") ?? "",
    order: oneOf(["name", "weight"], values.get("order"), START.order),
    color: oneOf(COLOR_SCHEMES, values.get("color"), start.color),
    colorMetric: values.get("by") ?? "",
    upward: values.get("up") === "1",
    proven: spec.paths === "proven",
    fn: values.get("function") ?? "",
    file: values.get("file") ?? "",
    line: count(values.get("line"), 0),
    asm: oneOf(ASM_MODES, values.get("asm"), START.asm),
    piece: count(values.get("piece"), 0),
    within: oneOf(WITHIN, values.get("within"), START.within),
    sort: {
      by: oneOf(SORTS, sort.replace(/^-/, ""), start.sort.by),
      descending: !sort.startsWith("-"),
      ...(values.get("sortby") === undefined ? {} : { metric: values.get("sortby")! }),
    },
    changedOnly: values.get("changed") === "1",
    panes: values.get("panes") === "1",
    ofTotals: values.get("of") === "total",
    where: values.get("where") ?? "",
    links,
    held: values.get("held") ?? "",
  };
  return problem === undefined ? { place } : { place, problem };
}
