// What a page's main thread did for each frame, from a trace of Chromium.

/** Categories that such a trace needs. */
export const CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"];

/** A pause of this many microseconds is a frame in which nothing was done: what came before it delays none. */
const PAUSE = 16_667;

/**
 * Milliseconds of work for every frame that the page drew something for: all tasks of its main thread since the frame
 * before or the last pause, that is handling input, reading answers, laying out and painting; with software drawing the
 * canvas is painted there, too. `cpu`: what the thread itself ran; `wall`: with waiting for a processor.
 */
export function workOfFrames({ traceEvents }) {
  const drawn = traceEvents.filter((event) => event.name === "FireAnimationFrame");
  if (drawn.length === 0) return { pid: 0, cpu: [], wall: [] };
  const { pid, tid } = mostCommon(drawn);
  const ofPage = (event) => event.pid === pid && event.tid === tid;
  const tasks = traceEvents
    .filter((event) => event.name === "RunTask" && event.ph === "X" && ofPage(event))
    .sort((one, other) => one.ts - other.ts);
  const draws = drawn
    .filter(ofPage)
    .map((event) => event.ts)
    .sort((one, other) => one - other);
  const cpu = [];
  const wall = [];
  let work = { cpu: 0, wall: 0 };
  let next = 0;
  let over = 0;
  for (const { ts, dur, tdur } of tasks) {
    if (ts - over > PAUSE) work = { cpu: 0, wall: 0 };
    over = ts + dur;
    work.cpu += (tdur ?? dur) / 1000;
    work.wall += dur / 1000;
    if (!(draws[next] < over)) continue;
    while (draws[next] < over) ++next;
    cpu.push(work.cpu);
    wall.push(work.wall);
    work = { cpu: 0, wall: 0 };
  }
  return { pid, cpu, wall };
}

function mostCommon(events) {
  const counts = new Map();
  for (const { pid, tid } of events) {
    const key = `${pid} ${tid}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const [key] = [...counts].sort((one, other) => other[1] - one[1])[0];
  const [pid, tid] = key.split(" ").map(Number);
  return { pid, tid };
}
