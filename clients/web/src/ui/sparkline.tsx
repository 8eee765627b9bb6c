// A series in a cell of a table. Its numbers are in the cells beside it.
import { sparkPath } from "../draw/plot.js";

const WIDTH = 110;
const HEIGHT = 18;

export function Sparkline({ values }: { values: readonly number[] }) {
  return (
    <svg class="sparkline" viewBox={`-1 -1 ${WIDTH + 2} ${HEIGHT + 2}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={sparkPath(values, WIDTH, HEIGHT)} />
    </svg>
  );
}
