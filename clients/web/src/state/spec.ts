// The text form of a view, `bottom-up by file | drop module libc.so.6`, read and written as the daemon does
// (core/view/spec.h): the address of the page and the filter box speak it without asking.
import type { Filter, FilterBy, FilterOp, Granularity, ViewPaths, ViewShape } from "../../../shared/ts/psp.js";
import { nearMiss } from "./nearmiss.js";

export interface Spec {
  readonly shape: ViewShape;
  readonly granularity: Granularity;
  readonly filters: readonly Filter[];
  readonly metric: string;
  readonly focus: readonly string[];
  /** Of a file that has calls and no stacks; absent: divided. */
  readonly paths?: ViewPaths;
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
  "package",
  "code",
  "kind",
  "work",
  "fragment",
  "path",
  "thread",
  "label",
  "time",
  "marker",
  "recursion",
];

/** What may be said of the context that a record has in another role. */
const LINKED_BYS: readonly FilterBy[] = [
  "function",
  "module",
  "file",
  "package",
  "code",
  "kind",
  "work",
  "fragment",
  "path",
];

const RESERVED = new Set([">", "=", "by", "of"]);

/** `<` that are not closed; below zero when more are closed. Those of operators and arrows are none. */
function openAngles(text: string): number {
  const plain = text.replace(/operator[<>=-]*|[-=]>/g, "");
  return plain.split("<").length - plain.split(">").length;
}

export function shapeText(shape: ViewShape): string {
  return SHAPE_WORDS.find(([id]) => id === shape)?.[1] ?? shape;
}

function isPlainWord(text: string): boolean {
  if (text === "" || RESERVED.has(text) || text.startsWith("/") || text.startsWith("~")) return false;
  // eslint-disable-next-line no-control-regex
  return !/[\u0000-\u0020\u007f|"]/.test(text) && openAngles(text) === 0;
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
  const linked = (filter.linked ?? "") !== "";
  const ofSample = linked || ["thread", "label", "time", "marker"].includes(filter.by);
  const op =
    (ofSample && filter.op === "keep" ? "" : filter.op + " ") +
    (linked ? `linked ${nameText(filter.linked ?? "")} ` : "");
  switch (filter.by) {
    case "fragment":
    case "path":
      return `${op}${filter.by} ${runText(filter.frames ?? [])}`;
    case "label":
      return `${op}label ${nameText(filter.key ?? "")} = ${patternText(filter)}`;
    case "recursion":
      return `${op}recursion`;
    case "mine":
      return "mine";
    case "time": {
      const from = filter.from === undefined ? "" : instantText(filter.from);
      const to = filter.to === undefined ? "" : instantText(filter.to);
      const every = filter.every === undefined ? "" : ` every ${instantText(filter.every)}`;
      return `${op}time ${from}..${to}${every}`;
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
  if (spec.paths === "proven") out += " | paths proven";
  if (spec.metric !== "") out += " | metric " + nameText(spec.metric);
  return out;
}

interface Token {
  readonly kind: "word" | "quoted" | "regex" | "bar" | "end";
  readonly text: string;
  readonly offset: number;
}

/** What may follow a name and ends it. */
interface Ends {
  readonly arrow?: boolean;
  readonly equals?: boolean;
  readonly by?: boolean;
}

/** What a text has at most, in UTF-8. */
const MAX_BYTES = 64 * 1024;

/** Bytes of `\x80` and above are half surrogates until their quote is closed: no text has those by themselves. */
const BYTE = 0xdc00;

/** Runs of bytes are UTF-8, as all names are. */
function withoutBytes(text: string, start: number): string {
  return text.replace(/[\udc80-\udcff]+/gu, (run) => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        Uint8Array.from(run, (byte) => byte.charCodeAt(0) - BYTE),
      );
    } catch {
      throw new SpecError(start, "the bytes of \\x80 and above are no UTF-8, which all names are");
    }
  });
}

class Lexer {
  private at = 0;
  constructor(private readonly source: string) {
    if (new TextEncoder().encode(source).length > MAX_BYTES)
      throw new SpecError(0, "the text of a view has at most 65,536 bytes");
  }

  /** The whole name that begins with `token`, the word read last: names are shown with spaces. */
  extend(token: Token, ends: Ends): string {
    let end = token.offset + token.text.length;
    for (;;) {
      const begin = this.afterSpaces(end);
      const word = this.wordAt(begin);
      const text = this.source.slice(token.offset, end);
      if (
        word === "" ||
        (ends.equals === true && word === "=") ||
        (ends.by === true && word === "by" && this.endsAfter(begin)) ||
        (ends.arrow === true && word === ">" && openAngles(text) <= 0)
      ) {
        this.at = end;
        return text;
      }
      end = begin + word.length;
    }
  }

  private afterSpaces(at: number): number {
    while (/[ \t\n\r]/.test(this.source.charAt(at))) ++at;
    return at;
  }
  private wordAt(begin: number): string {
    return /^[^ \t\n\r|"]*/.exec(this.source.slice(begin))?.[0] ?? "";
  }
  /** Whether no more than a word follows the one that begins here. */
  private endsAfter(begin: number): boolean {
    let at = this.afterSpaces(begin + this.wordAt(begin).length);
    at = this.afterSpaces(at + this.wordAt(at).length);
    return at >= this.source.length || this.source.charAt(at) === "|";
  }
  /** "/src/a.cc" and no expression: text goes on right after its second slash. */
  private isPath(): boolean {
    return /^\/(?:\\.|[^/\\])*\/.*[^/]$/s.test(this.wordAt(this.at));
  }

  next(): Token {
    this.at = this.afterSpaces(this.at);
    const offset = this.at;
    const first = this.source.charAt(offset);
    if (first === "") return { kind: "end", text: "", offset };
    if (first === "|") {
      ++this.at;
      return { kind: "bar", text: "|", offset };
    }
    if (first === '"') return { kind: "quoted", text: this.quoted(offset), offset };
    if (first === "/" && !this.isPath()) return { kind: "regex", text: this.regex(offset), offset };
    if (first === "~") {
      ++this.at;
      if (this.source.charAt(this.at) !== '"') throw new SpecError(this.at, "~ is followed by a quoted expression");
      return { kind: "regex", text: this.quoted(offset), offset };
    }
    const text = this.wordAt(offset);
    this.at = offset + text.length;
    return { kind: "word", text, offset };
  }

  private quoted(start: number): string {
    let text = "";
    for (++this.at; this.at < this.source.length; ++this.at) {
      const ch = this.source.charAt(this.at);
      if (ch === '"') {
        ++this.at;
        return withoutBytes(text, start);
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
        const byte = parseInt(digits, 16);
        text += String.fromCharCode(byte < 0x80 ? byte : BYTE + byte);
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
        if (/[^ \t\n\r|]/.test(this.source.charAt(++this.at)))
          throw new SpecError(
            this.at,
            "between slashes a slash is written \\/; a path that ends in one is put in quotes",
          );
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

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Into nanoseconds; exact, so that 1.5ns is refused. */
function instant(text: string, offset: number): number {
  const [, sign, whole = "", fraction = "", unit = ""] = /^(-?)(\d*)(?:\.(\d*))?(ns|us|ms|s|m|h)$/.exec(text) ?? [];
  const digits = BigInt(whole + fraction);
  let scale = 10n ** BigInt(fraction.length);
  let size = UNITS[unit] ?? 0n;
  for (; scale > 1n && size > 0n && size % 10n === 0n; scale /= 10n) size /= 10n;
  const ns = Number((digits / scale) * size);
  // The daemon counts digits in 63 bits.
  const isLong = fraction.length > 18 || digits >= 2n ** 63n;
  if (whole + fraction === "" || isLong || digits % scale !== 0n || !Number.isSafeInteger(ns))
    throw new SpecError(offset, `"${text}" is not a time such as 10ms or 1.5s`);
  return sign === "-" ? 0 - ns : ns;
}

type Clause = { readonly filter: Filter } | { readonly metric: string } | { readonly paths: ViewPaths };

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
      focus = this.run({ arrow: true, by: true });
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
    let paths: ViewPaths = "divided";
    while (this.token.kind === "bar") {
      this.advance();
      const clause = this.clause();
      if ("metric" in clause) metric = clause.metric;
      else if ("paths" in clause) paths = clause.paths;
      else filters.push(clause.filter);
    }
    this.end();
    return { shape, granularity, filters, metric, focus, ...(paths === "proven" ? { paths } : {}) };
  }

  clause(): Clause {
    if (this.is("metric")) {
      this.advance();
      return { metric: this.name("the name of a metric") };
    }
    if (this.is("mine")) {
      this.advance();
      return { filter: { op: "collapse", by: "mine" } };
    }
    if (this.is("paths")) {
      this.advance();
      const paths = (["divided", "proven"] as const).find((word) => this.is(word));
      if (paths === undefined) throw new SpecError(this.token.offset, "paths are divided or proven");
      this.advance();
      return { paths };
    }
    const op = FILTER_OPS.find((o) => this.is(o));
    if (op !== undefined) this.advance();
    const linked = this.is("linked") ? this.role() : undefined;
    const by = FILTER_BYS.find((b) => this.is(b));
    if (by === undefined) throw new SpecError(this.token.offset, this.noClause(op));
    if (by === "recursion" && op !== "collapse")
      throw new SpecError(this.token.offset, "recursion can only be collapsed: collapse recursion");
    if (by === "work" && op !== undefined && op !== "keep" && op !== "drop")
      throw new SpecError(this.token.offset, "work can only be kept or dropped: it is of stacks, not of frames");
    if (linked !== undefined && !LINKED_BYS.includes(by))
      throw new SpecError(
        this.token.offset,
        "what is linked is a function, module, file, package, code, kind, work, fragment or path",
      );
    this.advance();
    return { filter: { ...this.filter(op ?? "keep", by), ...(linked === undefined ? {} : { linked }) } };
  }

  /** One word or a text in quotes, as what follows is a word too. */
  private role(): string {
    this.advance();
    const { kind, text, offset } = this.token;
    if (text === "" || (kind !== "quoted" && (kind !== "word" || RESERVED.has(text))))
      throw new SpecError(offset, "the name of a role is missing: linked allocation function f");
    this.advance();
    return text;
  }

  end(): void {
    if (this.token.kind === "bar") throw new SpecError(this.token.offset, "one filter at a time; the | begins another");
    if (this.token.kind !== "end")
      throw new SpecError(
        this.token.offset,
        `"${this.token.text}" was not expected here; a | stands before the next filter`,
      );
  }

  /** Which words could have stood here. */
  private noClause(op: FilterOp | undefined): string {
    const bys = `${FILTER_BYS.slice(0, -1).join(", ")} or ${FILTER_BYS.at(-1) ?? ""}`;
    const words: string[] =
      op !== undefined ? [...FILTER_BYS] : [...FILTER_OPS, ...FILTER_BYS, "linked", "metric", "mine"];
    const given = this.token.text;
    const meant = given === "" ? undefined : nearMiss(given, words);
    const none = given === "" ? "" : `; "${given}" is none${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
    return op !== undefined
      ? `${op} is followed by ${bys}${none}`
      : `a filter begins with keep, drop, hide or collapse, and ${bys}, or is mine${none}`;
  }

  private filter(op: FilterOp, by: FilterBy): Filter {
    switch (by) {
      case "recursion":
        return { op, by };
      case "fragment":
      case "path":
        return { op, by, frames: this.run({ arrow: true }) };
      case "work":
        return { op, by, pattern: this.name("the name of a set") };
      case "label": {
        const key = this.name("the key of a label", { equals: true });
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
        const window = {
          ...(from === "" ? {} : { from: instant(from, offset) }),
          ...(to === "" ? {} : { to: instant(to, offset + dots + 2) }),
        };
        this.advance();
        if (!this.is("every")) return { op, by, ...window };
        this.advance();
        const every = instant(this.word(), this.token.offset);
        this.advance();
        return { op, by, ...window, every };
      }
      default:
        return { op, by, ...this.pattern() };
    }
  }

  private is(word: string): boolean {
    return this.token.kind === "word" && this.token.text === word;
  }

  /** "" where something else stands. */
  private word(): string {
    return this.token.kind === "word" ? this.token.text : "";
  }

  private advance(): void {
    this.token = this.lexer.next();
  }

  private name(what: string, ends: Ends = {}): string {
    const { kind, text, offset } = this.token;
    if ((kind !== "word" && kind !== "quoted") || (kind === "word" && RESERVED.has(text)))
      throw new SpecError(offset, `${what} is missing`);
    const name = kind === "word" ? this.lexer.extend(this.token, ends) : text;
    this.advance();
    return name;
  }

  private run(ends: Ends): string[] {
    const names = [this.name("the name of a function", ends)];
    while (this.is(">")) {
      this.advance();
      names.push(this.name("the name of a function", ends));
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
