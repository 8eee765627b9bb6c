// The text form of a view, `bottom-up by file | drop module libc.so.6`, read and written as the daemon does
// (core/view/spec.h): the address of the page and the filter box speak it without asking.
import type { Filter, FilterBy, FilterOp, Granularity, ViewShape } from "../../../shared/ts/psp.js";

export interface Spec {
  readonly shape: ViewShape;
  readonly granularity: Granularity;
  readonly filters: readonly Filter[];
  readonly metric: string;
  readonly focus: readonly string[];
}

export class SpecError extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

const SHAPE_WORDS: readonly (readonly [ViewShape, string])[] = [
  ["topDown", "top-down"],
  ["bottomUp", "bottom-up"],
  ["flat", "flat"],
  ["callers", "callers"],
  ["callees", "callees"],
];
export const GRANULARITIES: readonly Granularity[] = ["address", "line", "function", "file", "module"];
export const FILTER_OPS: readonly FilterOp[] = ["keep", "drop", "hide", "collapse"];
export const FILTER_BYS: readonly FilterBy[] = [
  "function",
  "module",
  "file",
  "fragment",
  "thread",
  "label",
  "time",
  "recursion",
];

const RESERVED = new Set([">", "=", "by", "of"]);

export function shapeText(shape: ViewShape): string {
  return SHAPE_WORDS.find(([id]) => id === shape)?.[1] ?? shape;
}

function isPlainWord(text: string): boolean {
  if (text === "" || RESERVED.has(text) || text.startsWith("/") || text.startsWith("~")) return false;
  // eslint-disable-next-line no-control-regex
  return !/[\u0000-\u0020\u007f|"]/.test(text);
}

function quoted(text: string): string {
  let out = '"';
  for (const ch of text) {
    const code = ch.codePointAt(0)!;
    if (ch === '"' || ch === "\\") out += "\\" + ch;
    else if (ch === "\n") out += "\\n";
    else if (ch === "\t") out += "\\t";
    else if (ch === "\r") out += "\\r";
    else if (code < 0x20 || code === 0x7f) out += "\\x" + code.toString(16).padStart(2, "0");
    else out += ch;
  }
  return out + '"';
}

function nameText(name: string): string {
  return isPlainWord(name) ? name : quoted(name);
}

function patternText(filter: Filter): string {
  const pattern = filter.pattern ?? "";
  if (filter.regex !== true) return nameText(pattern);
  // Between slashes a backslash is the expression's own, so "\/" could not be told from "/".
  // eslint-disable-next-line no-control-regex
  if (pattern.includes("\\/") || pattern.endsWith("\\") || /[\u0000-\u001f\u007f]/.test(pattern))
    return "~" + quoted(pattern);
  return "/" + pattern.replaceAll("/", "\\/") + "/";
}

const runText = (names: readonly string[]) => names.map(nameText).join(" > ");

function instantText(ns: number): string {
  for (const [unit, size] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
  ] as const)
    if (ns % size === 0) return `${ns / size}${unit}`;
  return `${ns}ns`;
}

export function filterText(filter: Filter): string {
  const ofSample = filter.by === "thread" || filter.by === "label" || filter.by === "time";
  const op = ofSample && filter.op === "keep" ? "" : filter.op + " ";
  switch (filter.by) {
    case "fragment":
      return `${op}fragment ${runText(filter.frames ?? [])}`;
    case "label":
      return `${op}label ${nameText(filter.key ?? "")} = ${patternText(filter)}`;
    case "recursion":
      return `${op}recursion`;
    case "time": {
      const from = filter.from === undefined ? "" : instantText(filter.from);
      const to = filter.to === undefined ? "" : instantText(filter.to);
      return `${op}time ${from}..${to}`;
    }
    default:
      return `${op}${filter.by} ${patternText(filter)}`;
  }
}

export function specText(spec: Spec): string {
  let out = shapeText(spec.shape);
  if (spec.focus.length > 0) out += " of " + runText(spec.focus);
  out += " by " + spec.granularity;
  for (const filter of spec.filters) out += " | " + filterText(filter);
  if (spec.metric !== "") out += " | metric " + nameText(spec.metric);
  return out;
}

interface Token {
  readonly kind: "word" | "quoted" | "regex" | "bar" | "end";
  readonly text: string;
  readonly offset: number;
}

class Lexer {
  private at = 0;
  constructor(private readonly source: string) {}

  next(): Token {
    while (/\s/.test(this.source.charAt(this.at))) ++this.at;
    const offset = this.at;
    const first = this.source.charAt(offset);
    if (first === "") return { kind: "end", text: "", offset };
    if (first === "|") {
      ++this.at;
      return { kind: "bar", text: "|", offset };
    }
    if (first === '"') return { kind: "quoted", text: this.quoted(offset), offset };
    if (first === "/") return { kind: "regex", text: this.regex(offset), offset };
    if (first === "~") {
      ++this.at;
      if (this.source.charAt(this.at) !== '"') throw new SpecError(this.at, "~ is followed by a quoted expression");
      return { kind: "regex", text: this.quoted(offset), offset };
    }
    while (this.at < this.source.length && !/[\s|"]/.test(this.source.charAt(this.at))) ++this.at;
    return { kind: "word", text: this.source.slice(offset, this.at), offset };
  }

  private quoted(start: number): string {
    let text = "";
    for (++this.at; this.at < this.source.length; ++this.at) {
      const ch = this.source.charAt(this.at);
      if (ch === '"') {
        ++this.at;
        return text;
      }
      if (ch !== "\\") {
        text += ch;
        continue;
      }
      const escape = this.source.charAt(++this.at);
      const plain = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\" }[escape];
      if (plain !== undefined) text += plain;
      else if (escape === "x") {
        const digits = this.source.slice(this.at + 1, this.at + 3);
        if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw new SpecError(this.at, "\\x is followed by two hexadecimal digits");
        text += String.fromCharCode(parseInt(digits, 16));
        this.at += 2;
      } else if (escape !== "")
        throw new SpecError(this.at, 'in quotes a backslash is followed by one of " \\ n t r x');
    }
    throw new SpecError(start, "the quote is not closed");
  }

  private regex(start: number): string {
    let text = "";
    for (++this.at; this.at < this.source.length; ++this.at) {
      const ch = this.source.charAt(this.at);
      if (ch === "/") {
        ++this.at;
        return text;
      }
      if (ch === "\\" && this.at + 1 < this.source.length) {
        ++this.at;
        const after = this.source.charAt(this.at);
        text += after === "/" ? "/" : "\\" + after;
        continue;
      }
      text += ch;
    }
    throw new SpecError(start, "the regular expression is not closed by a slash");
  }
}

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 };

function instant(text: string, offset: number): number {
  const found = /^(-?)(\d+(?:\.\d*)?|\.\d+)(ns|us|ms|s|m|h)$/.exec(text);
  const value = found ? Number(found[2]) * UNITS[found[3]!]! : NaN;
  const whole = Math.round(value);
  if (!found || Math.abs(whole - value) > 1e-6 * Math.max(1, Math.abs(value)) || !Number.isSafeInteger(whole))
    throw new SpecError(offset, `"${text}" is not a time such as 10ms or 1.5s`);
  return found[1] === "-" ? -whole : whole;
}

type Clause = { readonly filter: Filter } | { readonly metric: string };

class Parser {
  private readonly lexer: Lexer;
  private token: Token;

  constructor(text: string) {
    this.lexer = new Lexer(text);
    this.token = this.lexer.next();
  }

  spec(): Spec {
    const shape =
      this.token.kind === "word" ? SHAPE_WORDS.find(([, word]) => word === this.token.text)?.[0] : undefined;
    if (shape === undefined)
      throw new SpecError(this.token.offset, "a view begins with top-down, bottom-up, flat, callers or callees");
    this.advance();
    let focus: string[] = [];
    let granularity: Granularity = "function";
    if (this.is("of")) {
      this.advance();
      focus = this.run();
    }
    if (this.is("by")) {
      this.advance();
      const word = GRANULARITIES.find((g) => this.is(g));
      if (word === undefined)
        throw new SpecError(this.token.offset, "a granularity is one of address, line, function, file, module");
      granularity = word;
      this.advance();
    }
    const filters: Filter[] = [];
    let metric = "";
    while (this.token.kind === "bar") {
      this.advance();
      const clause = this.clause();
      if ("metric" in clause) metric = clause.metric;
      else filters.push(clause.filter);
    }
    this.end();
    return { shape, granularity, filters, metric, focus };
  }

  clause(): Clause {
    if (this.is("metric")) {
      this.advance();
      return { metric: this.name("the name of a metric") };
    }
    const start = this.token.offset;
    const op = FILTER_OPS.find((o) => this.is(o));
    if (op !== undefined) this.advance();
    const by = FILTER_BYS.find((b) => this.is(b));
    if (by === undefined)
      throw new SpecError(this.token.offset, `after "${op ?? "|"}" comes one of ${FILTER_BYS.join(", ")}`);
    this.advance();
    return { filter: this.filter(op ?? "keep", by, start) };
  }

  end(): void {
    if (this.token.kind !== "end")
      throw new SpecError(this.token.offset, `"${this.token.text}" was not expected here; clauses are separated by |`);
  }

  private filter(op: FilterOp, by: FilterBy, start: number): Filter {
    switch (by) {
      case "recursion":
        if (op !== "collapse") throw new SpecError(start, "recursion can only be collapsed: collapse recursion");
        return { op, by };
      case "fragment":
        return { op, by, frames: this.run() };
      case "label": {
        const key = this.name("the key of a label");
        if (!this.is("=")) throw new SpecError(this.token.offset, "a label is given as label key = value");
        this.advance();
        return { op, by, key, ...this.pattern() };
      }
      case "time": {
        const { text, offset } = this.token;
        const dots = text.indexOf("..");
        if (this.token.kind !== "word" || dots < 0) throw new SpecError(offset, "a time window is given as 10ms..2s");
        const from = text.slice(0, dots);
        const to = text.slice(dots + 2);
        this.advance();
        return {
          op,
          by,
          ...(from === "" ? {} : { from: instant(from, offset) }),
          ...(to === "" ? {} : { to: instant(to, offset + dots + 2) }),
        };
      }
      default:
        return { op, by, ...this.pattern() };
    }
  }

  private is(word: string): boolean {
    return this.token.kind === "word" && this.token.text === word;
  }

  private advance(): void {
    this.token = this.lexer.next();
  }

  private name(what: string): string {
    const { kind, text, offset } = this.token;
    if ((kind !== "word" && kind !== "quoted") || (kind === "word" && RESERVED.has(text)))
      throw new SpecError(offset, `${what} is missing`);
    this.advance();
    return text;
  }

  private run(): string[] {
    const names = [this.name("the name of a function")];
    while (this.is(">")) {
      this.advance();
      names.push(this.name("the name of a function"));
    }
    return names;
  }

  private pattern(): { pattern: string; regex?: boolean } {
    if (this.token.kind === "regex") {
      const pattern = this.token.text;
      this.advance();
      return { pattern, regex: true };
    }
    return { pattern: this.name("a name or /regular expression/") };
  }
}

/** Throws SpecError. */
export function parseSpec(text: string): Spec {
  return new Parser(text).spec();
}

/** One clause, `drop module libc.so.6` or `metric cpu`. Throws SpecError. */
export function parseClause(text: string): Clause {
  const parser = new Parser(text);
  const clause = parser.clause();
  parser.end();
  return clause;
}
