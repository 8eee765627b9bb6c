// A plot of a series or a histogram. What it says is beside it as a text: the picture is for eyes alone.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlotData } from "../draw/plot.js";
import { shown } from "../draw/shown.js";
import { useTheme } from "./theme.js";

const HEIGHT = 112;

export interface PlotProps {
  readonly data: PlotData;
  readonly bars?: boolean;
  readonly label: string;
  /** Below its ends. */
  readonly from: string;
  readonly to: string;
}

export function Plot({ data, bars = false, label, from, to }: PlotProps) {
  const theme = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    setAt(undefined);
    const style = getComputedStyle(element);
    const color = (name: string) => (theme.forced ? "CanvasText" : style.getPropertyValue(name).trim());
    const plot = new uPlot(
      {
        width: Math.max(60, element.clientWidth),
        height: HEIGHT,
        padding: [8, 6, 4, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: !bars } },
        scales: {
          x: { time: false, range: bars ? [...data.xRange] : roomy(data.xRange, 0.02, true) },
          y: { range: roomy(data.yRange, 0.06, data.yRange[0] < 0) },
        },
        axes: [
          { show: false },
          {
            size: 58,
            stroke: color("--muted"),
            font: `11px ${theme.font}`,
            grid: { stroke: color("--line"), width: 1 },
            ticks: { show: false },
            splits: () => data.marks.map((mark) => mark.at),
            values: () => data.marks.map((mark) => mark.text),
          },
        ],
        series: [
          {},
          {
            stroke: theme.accent,
            width: bars ? 0 : 1.5,
            points: { show: !bars && data.x.length <= 40, size: 5, fill: theme.accent },
            ...(bars
              ? { fill: theme.accent, paths: uPlot.paths.bars!({ align: 1, size: [1, Infinity], gap: 1 }) }
              : {}),
          },
        ],
        hooks: {
          setCursor: [({ cursor }) => setAt(cursor.idx ?? undefined)],
          draw: [(self) => data.level !== undefined && drawLevel(self, data.level, color("--strong-line"))],
        },
      },
      [[...data.x], [...data.y]],
      element,
    );
    const observer = new ResizeObserver(() => {
      const width = Math.max(60, element.clientWidth);
      if (width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, bars, theme]);
  return (
    <figure class="plot">
      <div class="plot-box" ref={box} role="img" aria-label={label} />
      <figcaption>
        <span>{shown(from)}</span>
        <span class="plot-says" aria-hidden="true">
          {at === undefined ? "" : shown(data.says(at))}
        </span>
        <span>{shown(to)}</span>
      </figcaption>
    </figure>
  );
}

/** With room for the points at the ends. */
function roomy([low, high]: readonly [number, number], part: number, below: boolean): [number, number] {
  const room = (high - low) * part;
  return [below ? low - room : low, high + room];
}

function drawLevel(plot: uPlot, level: number, ink: string): void {
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(level, "y", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.lineWidth = 1;
  ctx.setLineDash([4, 3]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
