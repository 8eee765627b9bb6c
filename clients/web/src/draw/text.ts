// Labels that fit. Widths are sums of the widths of characters, measured once each: no measuring while drawing.

/** Width of the first n characters, for all n. */
export type Ruler = (text: string) => Float32Array;

/** `measure` is slow and asked once for each character. */
export function rulerOf(measure: (text: string) => number, limit = 20_000): Ruler {
  const widths = new Map<string, number>();
  const rulers = new Map<string, Float32Array>();
  return (text) => {
    let ruler = rulers.get(text);
    if (ruler !== undefined) return ruler;
    if (rulers.size >= limit) rulers.clear();
    ruler = new Float32Array(text.length + 1);
    let sum = 0;
    for (let i = 0; i < text.length;) {
      const ch = String.fromCodePoint(text.codePointAt(i)!);
      let width = widths.get(ch);
      if (width === undefined) widths.set(ch, (width = measure(ch)));
      // The halves of a surrogate pair are never parted: the first takes no width.
      for (let unit = 1; unit < ch.length; ++unit) ruler[i + unit] = sum;
      sum += width;
      i += ch.length;
      ruler[i] = sum;
    }
    rulers.set(text, ruler);
    return ruler;
  };
}

const ELLIPSIS = "…";

/** As `cut`, with the end of the text kept: what names differ in. */
export function cutStart(text: string, room: number, ruler: Ruler): string {
  const at = ruler(text);
  const width = at[text.length]!;
  if (width <= room) return text;
  const rest = room - ruler(ELLIPSIS)[1]!;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (width - at[middle]! <= rest) high = middle;
    else low = middle + 1;
  }
  const first = text.charCodeAt(low);
  if (first >= 0xdc00 && first < 0xe000) ++low;
  return low >= text.length ? "" : ELLIPSIS + text.slice(low);
}

/**
 * The longest form of a name that fits: `cuts` are the places where its beginning may be left out, as the daemon
 * gives them. With less room than the last leaves, the beginning of what that leaves.
 */
export function cutName(name: string, cuts: readonly number[], room: number, ruler: Ruler): string {
  const at = ruler(name);
  const width = at[name.length]!;
  const from = [0, ...cuts].find((place) => width - at[place]! <= room);
  return from === undefined ? cut(name.slice(cuts.at(-1) ?? 0), room, ruler) : name.slice(from);
}

/** The text, or as much of its beginning as fits with an ellipsis; "" where less than one character does. */
export function cut(text: string, room: number, ruler: Ruler): string {
  const at = ruler(text);
  if (at[text.length]! <= room) return text;
  const rest = room - ruler(ELLIPSIS)[1]!;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle]! <= rest) low = middle;
    else high = middle - 1;
  }
  const last = text.charCodeAt(low - 1);
  if (last >= 0xd800 && last < 0xdc00) --low;
  return low < 1 ? "" : text.slice(0, low).trimEnd() + ELLIPSIS;
}
