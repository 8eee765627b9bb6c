// Which names stand on the picture: the most telling first, none over another, few enough to be read.

export interface Label {
  readonly key: string;
  readonly text: string;
  /** Middle of its foot in pixels. */
  readonly x: number;
  readonly y: number;
  readonly kind: "district" | "block" | "plot";
  /** What is shown of more of them goes first. */
  readonly weight: number;
}

export const MOST_LABELS = 40;

const LINE = 17;
const WIDEST = 240;

/** `widthOf`: of a text in pixels, without its edges. `first` are shown whatever they cover. */
export function chosenLabels(
  labels: readonly Label[],
  widthOf: (label: Label) => number,
  width: number,
  height: number,
  most = MOST_LABELS,
): Label[] {
  const out: Label[] = [];
  const taken: { x0: number; x1: number; y0: number; y1: number }[] = [];
  for (const label of [...labels].sort((a, b) => b.weight - a.weight)) {
    if (out.length >= most) break;
    const w = Math.min(WIDEST, widthOf(label)) + 12;
    const box = { x0: label.x - w / 2 - 2, x1: label.x + w / 2 + 2, y0: label.y - LINE - 3, y1: label.y + 1 };
    if (box.x0 < 2 || box.x1 > width - 2 || box.y0 < 2 || box.y1 > height - 2) continue;
    if (taken.some((other) => box.x0 < other.x1 && other.x0 < box.x1 && box.y0 < other.y1 && other.y0 < box.y1))
      continue;
    taken.push(box);
    out.push(label);
  }
  return out;
}
