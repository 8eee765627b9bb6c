// A function as instructions: what came of it in pages, as one list with headings; and which rows and source lines
// belong together. Pure.
import type { SourceDisassemblyParams, SourceDisassemblyResult } from "../../../../shared/ts/psp.js";
import type { Place } from "../../state/place.js";

export type CodePage = SourceDisassemblyResult;

/** Rows of a page: most functions are one. */
export const CODE_PAGE = 2000;

/** So many pages are gone through for the hottest row. */
const MOST_SEARCHED = 5;

/** Rows from `first` on. */
export interface Run {
  readonly first: number;
  readonly count: number;
}

export interface Heading extends Run {
  readonly text: string;
}

export interface Jump {
  readonly from: number;
  readonly to: number;
  readonly lane: number;
  /** How often branch stacks saw it taken; "": none did. */
  readonly taken: string;
}

export interface Listing {
  /** What holds of all pages. */
  readonly head: CodePage;
  /** By number, `pageRows` rows each. */
  readonly pages: ReadonlyMap<number, CodePage>;
  readonly pageRows: number;
  readonly rowCount: number;
  /** Those that are known, by their rows. */
  readonly headings: readonly Heading[];
  readonly jumps: readonly Jump[];
  /** How many arrows are side by side. */
  readonly lanes: number;
  /** Whether it is known how often rows were carried out. */
  readonly hasExecuted: boolean;
  /** Rows and headings together: what the list has. */
  readonly items: number;
}

export interface Instruction {
  readonly row: number;
  readonly offset: number;
  readonly text: string;
  readonly kind: string;
  /** -1: no row of this piece. */
  readonly target: number;
  /** "": it leads nowhere, or to a row. */
  readonly targetName: string;
  readonly beginsBlock: boolean;
  readonly loopDepth: number;
  /** How many calls deep it was inlined. */
  readonly depth: number;
  readonly matched: boolean;
  readonly self: number;
  readonly total: number;
  readonly selfText: string;
  readonly totalText: string;
  readonly selfShare: string;
  readonly totalShare: string;
  readonly heat: number;
  readonly bytes: string;
  /** How often branch stacks saw it carried out; "": not known. */
  readonly executed: string;
  /** Where it led to, what was taken most often first. */
  readonly branches: readonly string[];
}

/** A line of a file of the answer; `line` from 1. */
export interface CodePlace {
  readonly file: number;
  readonly line: number;
}

export type Item =
  { readonly kind: "row"; readonly row: number } | { readonly kind: "heading"; readonly heading: Heading };

/** What is asked for a place of the page; `uri` is the file that is shown, `line` the one that is meant in it, from 1. */
export function codeParams(
  place: Pick<Place, "fn" | "piece">,
  uri: string | undefined,
  line: number,
): Pick<SourceDisassemblyParams, "function" | "code" | "textDocument" | "position" | "piece"> | undefined {
  const { fn, piece } = place;
  const which = piece > 0 ? { piece } : {};
  if (/\+0x[0-9a-f]+$/i.test(fn)) return { code: fn, ...which };
  if (fn !== "") return { function: fn, ...which };
  if (uri === undefined || line < 1) return undefined;
  return { textDocument: { uri }, position: { line: line - 1, character: 0 }, ...which };
}

/** `all`: headings of every source line, not only of what was inlined. */
export function listingOf(
  pages: ReadonlyMap<number, CodePage>,
  all: boolean,
  pageRows = CODE_PAGE,
): Listing | undefined {
  const known = [...pages].sort(([a], [b]) => a - b).map(([, page]) => page);
  const head = known[0];
  if (head === undefined) return undefined;
  const headings = new Map<number, Heading>();
  const jumps = new Map<string, Jump>();
  for (const { headings: of, jumps: arrows, rows, offset, branches } of known) {
    const taken = new Map<string, string>();
    branches?.taken.row.forEach((row, i) =>
      taken.set(`${row} ${branches.taken.target[i]}`, branches.taken.text[i] ?? ""),
    );
    of.first.forEach((first, i) => {
      // A run that began in the page before is known by its part in this one.
      const at = Math.max(first, offset) - offset;
      if (all || (rows.inlined[at] ?? -1) >= 0)
        headings.set(first, { first, count: of.count[i] ?? 0, text: of.text[i] ?? "" });
    });
    arrows.from.forEach((from, i) => {
      const [to, lane] = [arrows.to[i] ?? 0, arrows.lane[i] ?? -1];
      const key = `${from} ${to}`;
      // The page that has the row knows what it did; another one has the arrow that comes from there.
      if (lane >= 0) jumps.set(key, { from, to, lane, taken: taken.get(key) ?? jumps.get(key)?.taken ?? "" });
    });
  }
  const sorted = [...headings.values()].sort((a, b) => a.first - b.first);
  const arrows = [...jumps.values()];
  return {
    head,
    pages,
    pageRows,
    rowCount: head.rowCount,
    headings: sorted,
    jumps: arrows,
    hasExecuted: head.rows.executed !== undefined,
    lanes: arrows.reduce((most, { lane }) => Math.max(most, lane + 1), 0),
    items: head.rowCount + sorted.length,
  };
}

/** How many headings are above a row, its own one among them. */
function headingsTo({ headings }: Listing, row: number): number {
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (headings[middle]!.first <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function itemOfRow(listing: Listing, row: number): number {
  return row + headingsTo(listing, row);
}

export function itemAt(listing: Listing, item: number): Item {
  const { headings } = listing;
  // Heading `i` is item `first + i`: those grow with `i`.
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (headings[middle]!.first + middle <= item) low = middle + 1;
    else high = middle;
  }
  const last = headings[low - 1];
  if (last !== undefined && last.first + low - 1 === item) return { kind: "heading", heading: last };
  return { kind: "row", row: item - low };
}

/** The row of an item, or the first one below a heading. */
export function rowOfItem(listing: Listing, item: number): number {
  const at = itemAt(listing, item);
  return at.kind === "row" ? at.row : at.heading.first;
}

const pageOf = ({ pages, pageRows }: Listing, row: number): readonly [CodePage, number] | undefined => {
  const page = pages.get(Math.floor(row / pageRows));
  return page === undefined ? undefined : [page, row - page.offset];
};

/** From the innermost call out: what the code at a row was inlined by. */
function callsOf({ inlined }: CodePage, innermost: number): number[] {
  const calls: number[] = [];
  for (let call = innermost; call >= 0 && calls.length <= inlined.parent.length; call = inlined.parent[call] ?? -1)
    calls.push(call);
  return calls;
}

/** Nothing while its page is not there. */
export function instructionAt(listing: Listing, row: number): Instruction | undefined {
  const found = pageOf(listing, row);
  if (found === undefined) return undefined;
  const [page, at] = found;
  const { rows, blocks, branches } = page;
  if (rows.text[at] === undefined) return undefined;
  const block = rows.block[at] ?? 0;
  return {
    row,
    offset: rows.offset[at] ?? 0,
    text: rows.text[at],
    kind: rows.kind[at] ?? "plain",
    target: rows.target[at] ?? -1,
    targetName: rows.targetName[at] ?? "",
    beginsBlock: row > 0 && blocks.first[block] === row,
    loopDepth: blocks.loopDepth[block] ?? 0,
    depth: callsOf(page, rows.inlined[at] ?? -1).length,
    matched: rows.matched[at] ?? false,
    self: rows.self[at] ?? 0,
    total: rows.total[at] ?? 0,
    selfText: rows.selfText[at] ?? "",
    totalText: rows.totalText[at] ?? "",
    selfShare: rows.selfShare[at] ?? "",
    totalShare: rows.totalShare[at] ?? "",
    heat: rows.heat[at] ?? 0,
    bytes: rows.bytes?.[at] ?? "",
    executed: rows.executedText?.[at] ?? "",
    branches: branches?.taken.text.filter((_, i) => branches.taken.row[i] === row) ?? [],
  };
}

/** Which of the answer's files is shown beside it; -1: none. */
export function fileIndex(head: CodePage, uri: string | undefined, path: string): number {
  const same = uri === undefined ? -1 : head.fileUris.indexOf(uri);
  return same >= 0 ? same : head.files.indexOf(path);
}

/** Lines of a row, its own first, then those of the calls that it was inlined by. */
export function placesOfRow(listing: Listing, row: number): CodePlace[] {
  const found = pageOf(listing, row);
  if (found === undefined) return [];
  const [page, at] = found;
  const { rows, inlined } = page;
  const places = [
    { file: rows.file[at] ?? -1, line: rows.line[at] ?? 0 },
    ...callsOf(page, rows.inlined[at] ?? -1).map((call) => ({
      file: inlined.file[call] ?? -1,
      line: inlined.line[call] ?? 0,
    })),
  ];
  return places.filter(({ file, line }) => file >= 0 && line > 0);
}

/** Lines of one file that a row is of. */
export function linesOfRow(listing: Listing, row: number, file: number): number[] {
  return placesOfRow(listing, row)
    .filter((place) => place.file === file)
    .map(({ line }) => line);
}

/** The row at an address, which is written as `0x12a4`, of the pages that are there. */
export function rowAtAddress({ head, pages }: Listing, address: string): number | undefined {
  const piece = head.pieces[head.piece];
  if (piece === undefined || !/^0x[0-9a-f]{1,16}$/i.test(address)) return undefined;
  const wanted = BigInt(address) - BigInt(piece.start);
  for (const { rows, offset } of pages.values()) {
    const at = rows.offset.findIndex((from, i) => {
      const begin = BigInt(from);
      return begin <= wanted && wanted < begin + BigInt(Math.max(1, rows.length[i] ?? 1));
    });
    if (at >= 0) return offset + at;
  }
  return undefined;
}

/** Rows that a source line became, those of what it calls inline among them; of the pages that are there. */
export function rowsOfLine(listing: Listing, file: number, line: number): ReadonlySet<number> {
  const found = new Set<number>();
  if (file < 0 || line < 1) return found;
  for (const { rows, inlined, offset } of listing.pages.values()) {
    const isOf: boolean[] = [];
    inlined.parent.forEach((parent, call) => {
      const here = inlined.file[call] === file && inlined.line[call] === line;
      isOf.push(here || (parent >= 0 && isOf[parent] === true));
    });
    rows.text.forEach((_, at) => {
      const own = rows.file[at] === file && rows.line[at] === line;
      if (own || isOf[rows.inlined[at] ?? -1] === true) found.add(offset + at);
    });
  }
  return found;
}

/** The row that costs most; undefined: none does, or it is in no page that is there. */
export function hottestRow({ pages }: Listing): number | undefined {
  for (const { rows, offset } of pages.values()) {
    const at = rows.heat.findIndex((heat) => heat >= 1);
    if (at >= 0) return offset + at;
  }
  return undefined;
}

/** So many marks a ruler has. */
const MOST_MARKS = 300;

/** Rows that cost something, the costliest, with how much. */
export function hotRows({ pages }: Listing): { readonly row: number; readonly heat: number }[] {
  const found = [...pages.values()].flatMap(({ rows, offset }) =>
    rows.heat.flatMap((heat, at) => (heat > 0 ? [{ row: offset + at, heat }] : [])),
  );
  return found.sort((a, b) => b.heat - a.heat).slice(0, MOST_MARKS);
}

/** The row that most passes through; the first one where nothing does. */
export function heaviestRow({ pages }: Listing): number {
  let [heaviest, most] = [0, 0];
  for (const { rows, offset } of pages.values())
    rows.total.forEach((total, at) => {
      if (Math.abs(total) <= most) return;
      most = Math.abs(total);
      heaviest = offset + at;
    });
  return heaviest;
}

/** The page to look for the hottest row in next; undefined: it is found, or is not looked for any longer. */
export function nextPage(listing: Listing): number | undefined {
  const { pages, pageRows, rowCount } = listing;
  const next = pages.size;
  if (hottestRow(listing) !== undefined || next >= MOST_SEARCHED || next * pageRows >= rowCount) return undefined;
  return pages.has(next) ? undefined : next;
}

/** Rows after `row` that cost something, the next one; from the top again behind the last. */
export function nextHot(listing: Listing, row: number): number | undefined {
  let first: number | undefined;
  let after: number | undefined;
  for (const { rows, offset } of listing.pages.values())
    rows.heat.forEach((heat, at) => {
      if (heat < 0.25) return;
      const here = offset + at;
      if (first === undefined || here < first) first = here;
      if (here > row && (after === undefined || here < after)) after = here;
    });
  return after ?? first;
}

export const ARROW = 7;

/** The width that arrows take, in pixels. */
export const arrowsWidth = (lanes: number) => (lanes === 0 ? 6 : lanes * ARROW + 10);

/** What of an arrow is drawn beside one item of the list, as a path; `height` is that of an item. */
export function arrowAt(listing: Listing, jump: Jump, item: number, height: number): string | undefined {
  const [from, to] = [itemOfRow(listing, jump.from), itemOfRow(listing, jump.to)];
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  if (item < first || item > last) return undefined;
  const width = arrowsWidth(listing.lanes);
  const x = width - 9.5 - jump.lane * ARROW;
  const middle = height / 2;
  const line = first === last ? "" : `M${x} ${item === first ? middle : 0}V${item === last ? middle : height}`;
  const end = item === from ? `M${x} ${middle}H${width - 1}` : "";
  const tip = item === to ? `M${x} ${middle}H${width - 1}m-3.5 -3l3.5 3l-3.5 3` : "";
  return line + end + tip;
}

/** Jumps that are drawn beside items `first` to `last`, the last one not among them. */
export function jumpsAt(listing: Listing, first: number, last: number): Jump[] {
  const [top, end] = [rowOfItem(listing, first), rowOfItem(listing, Math.max(first, last - 1))];
  return listing.jumps.filter(({ from, to }) => Math.min(from, to) <= end && Math.max(from, to) >= top);
}

/** What stands above the rows that a row is one of; "": nothing. */
export function headingOf(listing: Listing, row: number): string {
  const page = pageOf(listing, row)?.[0];
  if (page === undefined) return "";
  const { first, count, text } = page.headings;
  const at = first.findIndex((begin, i) => row >= begin && row < begin + (count[i] ?? 0));
  return text[at] ?? "";
}
