// What part of a layout is on the screen: `x0` to `x1` in the metric's unit. All functions are pure.

export interface Camera {
  readonly x0: number;
  readonly x1: number;
}

export const whole = (span: number): Camera => ({ x0: 0, x1: span > 0 ? span : 1 });

export const unitsPerPixel = (camera: Camera, width: number) => (camera.x1 - camera.x0) / Math.max(1, width);

export const toPixel = (camera: Camera, width: number, at: number) =>
  ((at - camera.x0) / (camera.x1 - camera.x0)) * width;

export const toUnit = (camera: Camera, width: number, pixel: number) =>
  camera.x0 + (pixel / Math.max(1, width)) * (camera.x1 - camera.x0);

/** Zooms by `factor` (below 1: closer), the place under `pixel` staying where it is. */
export function zoomAt(camera: Camera, width: number, pixel: number, factor: number, smallest: number): Camera {
  const at = toUnit(camera, width, pixel);
  const size = Math.max(smallest, (camera.x1 - camera.x0) * factor);
  const left = (at - camera.x0) / (camera.x1 - camera.x0);
  return { x0: at - left * size, x1: at + (1 - left) * size };
}

export function panBy(camera: Camera, width: number, pixels: number): Camera {
  const by = pixels * unitsPerPixel(camera, width);
  return { x0: camera.x0 + by, x1: camera.x1 + by };
}

/** Keeps the picture on the screen: never wider than it is, never beside it. */
export function held(camera: Camera, span: number): Camera {
  const size = camera.x1 - camera.x0;
  if (!(span > 0) || size >= span) return whole(span);
  const x0 = Math.min(Math.max(0, camera.x0), span - size);
  return { x0, x1: x0 + size };
}

export function between(from: Camera, to: Camera, t: number): Camera {
  // The scale goes geometrically, so that each frame zooms by the same factor.
  const before = from.x1 - from.x0;
  const after = to.x1 - to.x0;
  if (t >= 1 || before <= 0 || after <= 0) return to;
  const size = before * (after / before) ** t;
  const along = before === after ? t : (size - before) / (after - before);
  const x0 = from.x0 + (to.x0 - from.x0) * along;
  return { x0, x1: x0 + size };
}

export const isWhole = (camera: Camera, span: number) => camera.x0 <= 0 && camera.x1 >= span;

export const easeOut = (t: number) => 1 - (1 - t) ** 3;
