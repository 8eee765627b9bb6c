// What a session has been through, from its begin, and which window of it is looked at.
import { useRef } from "preact/hooks";
import type { LiveWindowResult } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { STRIP, stripPath } from "./lanes.js";

/** All of the session's time: a click or the arrow keys look at another window of it. */
export function Strip({
  window,
  end,
  length,
  at,
  text,
  onSeek,
}: {
  window: LiveWindowResult | undefined;
  end: number;
  length: number;
  at: number;
  text: string;
  onSeek: (time: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const down = useRef(false);
  const strip = window?.strip;
  const whole = Math.max(end, strip === undefined ? 0 : strip.begin + strip.step * strip.busy.length, 1);
  const x = (time: number) => (time / whole) * STRIP.width;
  const seek = (event: PointerEvent) => {
    const rect = box.current!.getBoundingClientRect();
    onSeek(Math.max(0, Math.min(1, (event.clientX - rect.left) / Math.max(1, rect.width))) * whole);
  };
  const covered = strip === undefined ? 0 : strip.step * strip.busy.length;
  const most = Math.max(1e-9, ...(strip?.busy ?? []));
  const running = (strip?.busy ?? []).map((busy, i) => busy - (strip?.waiting?.[i] ?? 0));
  return (
    <div
      class="live-strip"
      ref={box}
      role="slider"
      tabIndex={0}
      aria-label="Time that is looked at"
      aria-valuemin={0}
      aria-valuemax={Math.round(whole / 1e6)}
      aria-valuenow={Math.round(at / 1e6)}
      aria-valuetext={text}
      onPointerDown={(event) => {
        down.current = true;
        box.current!.setPointerCapture(event.pointerId);
        seek(event);
      }}
      onPointerMove={(event) => {
        if (down.current) seek(event);
      }}
      onPointerUp={() => (down.current = false)}
      onPointerCancel={() => (down.current = false)}
      onKeyDown={(event) => {
        const step = { ArrowLeft: -length / 10, ArrowRight: length / 10, PageDown: -length, PageUp: length }[event.key];
        if (step !== undefined) onSeek(at + step);
        else if (event.key === "Home") onSeek(length);
        else if (event.key === "End") onSeek(whole);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <svg viewBox={`0 0 ${STRIP.width} ${STRIP.height}`} preserveAspectRatio="none" aria-hidden="true">
        {strip !== undefined && (
          <g transform={`translate(${x(strip.begin)} 0) scale(${covered / whole} 1)`}>
            <path class="strip-waiting" d={stripPath(strip.busy, most)} />
            <path class="strip-busy" d={stripPath(running, most)} />
            {strip.lost.map((lost, i) =>
              lost === 0 ? null : (
                <rect
                  class="strip-lost"
                  key={i}
                  x={(i * STRIP.width) / strip.lost.length}
                  y={0}
                  width={Math.max(2, STRIP.width / strip.lost.length)}
                  height={4}
                />
              ),
            )}
          </g>
        )}
        <rect
          class="strip-window"
          x={x(Math.max(0, at - length))}
          y={0}
          width={Math.max(3, x(Math.min(length, at)))}
          height={STRIP.height}
        />
      </svg>
      {window?.marks.map((mark) => (
        <span
          class="strip-mark"
          key={`${mark.time} ${mark.name}`}
          title={`${shown(mark.name)}, ${mark.timeText}`}
          style={{ left: `${(mark.time / whole) * 100}%` }}
        />
      ))}
    </div>
  );
}
