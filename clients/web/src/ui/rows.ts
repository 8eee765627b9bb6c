// Which rows of a long list are on the screen. Browsers cap heights; beyond the cap the thumb is mapped.

export const MAX_HEIGHT = 8_000_000;

export interface Rows {
  readonly first: number;
  readonly last: number;
  /** Pixels from the top of the scrolled content to the first row drawn. */
  readonly offset: number;
  readonly height: number;
}

export function rowsAt(count: number, rowHeight: number, scrollTop: number, viewHeight: number, spare = 8): Rows {
  const full = count * rowHeight;
  const height = Math.min(full, MAX_HEIGHT);
  // With a cap the same way of the thumb passes more rows; the top and the end stay where they are.
  const virtual =
    full <= MAX_HEIGHT || height <= viewHeight ? scrollTop : (scrollTop * (full - viewHeight)) / (height - viewHeight);
  const first = Math.max(0, Math.floor(virtual / rowHeight) - spare);
  const last = Math.min(count, Math.ceil((virtual + viewHeight) / rowHeight) + spare);
  return { first, last, offset: first * rowHeight - virtual + scrollTop, height };
}

/** Where to scroll so that a row can be seen; undefined: it can. */
export function scrollFor(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
  row: number,
): number | undefined {
  const full = count * rowHeight;
  const factor = full <= MAX_HEIGHT ? 1 : (MAX_HEIGHT - viewHeight) / (full - viewHeight);
  const virtual = scrollTop / factor;
  if (row * rowHeight < virtual) return row * rowHeight * factor;
  if ((row + 1) * rowHeight > virtual + viewHeight) return ((row + 1) * rowHeight - viewHeight) * factor;
  return undefined;
}
