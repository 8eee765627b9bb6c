// Source and instructions side by side: what is pointed at or chosen on one side is marked on the other.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fileIndex, linesOfRow, rowAtAddress, rowsOfLine, type Listing } from "./code.js";

/** What of a side goes with something on the other; the first one is brought into sight. */
export type Marks = ReadonlySet<number>;

const NONE: Marks = new Set<number>();

/** A line, from 1, or a row of code. */
export type Linked =
  | { readonly side: "source"; readonly line: number }
  | { readonly side: "code"; readonly row: number }
  // An instruction, from neither.
  | { readonly side: "within"; readonly address: string };

export interface Links {
  /** Lines, from 1. */
  readonly lines: Marks;
  readonly rows: Marks;
  readonly point: (linked: Linked | undefined) => void;
  readonly choose: (linked: Linked | undefined) => void;
}

/** Between a file and the code beside it; what is pointed at goes before what is chosen. */
export function useLinks(listing: Listing | undefined, uri: string | undefined, path: string): Links {
  const [pointed, point] = useState<Linked | undefined>(undefined);
  const [chosen, choose] = useState<Linked | undefined>(undefined);
  const linked = pointed ?? chosen;
  return { ...marksOf(listing, uri, path, linked), point, choose };
}

export function marksOf(
  listing: Listing | undefined,
  uri: string | undefined,
  path: string,
  linked: Linked | undefined,
): { readonly lines: Marks; readonly rows: Marks } {
  if (listing === undefined || linked === undefined) return { lines: NONE, rows: NONE };
  const file = fileIndex(listing.head, uri, path);
  if (linked.side === "within") {
    const row = rowAtAddress(listing, linked.address);
    return row === undefined
      ? { lines: NONE, rows: NONE }
      : { lines: new Set(linesOfRow(listing, row, file)), rows: new Set([row]) };
  }
  return linked.side === "source"
    ? { lines: NONE, rows: rowsOfLine(listing, file, linked.line) }
    : { lines: new Set(linesOfRow(listing, linked.row, file)), rows: NONE };
}

/** So long a pointer rests before the other side moves. */
const REST_MS = 90;

/** Scrolls to the first mark where none can be seen; `topOf` is where one is in what is scrolled. */
export function useReveal(
  scroller: RefObject<HTMLElement | null>,
  marks: Marks,
  height: number,
  topOf: (mark: number) => number,
): void {
  const key = [...marks].slice(0, 50).join();
  useEffect(() => {
    const [first] = marks;
    if (first === undefined) return undefined;
    const timer = setTimeout(() => {
      const element = scroller.current;
      if (element === null) return;
      const { scrollTop, clientHeight } = element;
      const seen = (mark: number) => {
        const top = topOf(mark);
        return top >= scrollTop && top + height <= scrollTop + clientHeight;
      };
      if (![...marks].some(seen)) element.scrollTop = Math.max(0, topOf(first) - clientHeight / 3);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [key]);
}
