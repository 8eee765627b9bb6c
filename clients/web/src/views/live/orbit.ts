// Where one looks at the city from: a point on its ground, how far away, from which side, how steeply. Pure numbers.

export interface Orbit {
  /** The point that is looked at, on the ground. */
  readonly x: number;
  readonly y: number;
  readonly distance: number;
  /** From where: 0 from the south, growing counter-clockwise, in radians. */
  readonly yaw: number;
  /** How steeply: 0 along the ground, half of pi from above. */
  readonly tilt: number;
}

export interface Extent {
  readonly width: number;
  readonly depth: number;
  /** Of what stands at its highest. */
  readonly height: number;
}

export type Vec = readonly [number, number, number];

export interface Ray {
  readonly from: Vec;
  readonly to: Vec;
}

const FIELD = (27 * Math.PI) / 180;
const LEAST_TILT = 0.12;
const MOST_TILT = Math.PI / 2 - 0.001;

export interface Lens {
  /** Column by column. */
  readonly matrix: Float32Array;
  readonly eye: Vec;
  readonly forward: Vec;
  readonly right: Vec;
  readonly up: Vec;
  readonly tangent: number;
  readonly aspect: number;
  /** To what is looked at. */
  readonly distance: number;
}

export function lensOf(orbit: Orbit, aspect: number): Lens {
  const [st, ct] = [Math.sin(orbit.tilt), Math.cos(orbit.tilt)];
  const [sy, cy] = [Math.sin(orbit.yaw), Math.cos(orbit.yaw)];
  const forward: Vec = [-sy * ct, cy * ct, -st];
  const right: Vec = [cy, sy, 0];
  const up: Vec = [-sy * st, cy * st, ct];
  const eye: Vec = [
    orbit.x - forward[0] * orbit.distance,
    orbit.y - forward[1] * orbit.distance,
    -forward[2] * orbit.distance,
  ];
  const tangent = Math.tan(FIELD / 2);
  const near = orbit.distance * 0.02;
  const far = orbit.distance * 12;
  const f = 1 / tangent;
  const a = (far + near) / (near - far);
  const b = (2 * far * near) / (near - far);
  const dot = (v: Vec) => v[0] * eye[0] + v[1] * eye[1] + v[2] * eye[2];
  const [r, u, d] = [dot(right), dot(up), dot(forward)];
  const matrix = new Float32Array(16);
  for (let axis = 0; axis < 3; ++axis) {
    matrix[axis * 4] = (right[axis]! * f) / aspect;
    matrix[axis * 4 + 1] = up[axis]! * f;
    matrix[axis * 4 + 2] = -forward[axis]! * a;
    matrix[axis * 4 + 3] = forward[axis]!;
  }
  matrix[12] = (-r * f) / aspect;
  matrix[13] = -u * f;
  matrix[14] = d * a + b;
  matrix[15] = -d;
  return { matrix, eye, forward, right, up, tangent, aspect, distance: orbit.distance };
}

/** From -1 to 1 in both directions, y upwards; and how far in front. Behind the eye: a distance of 0 or less. */
export function project(lens: Lens, [x, y, z]: Vec): readonly [number, number, number] {
  const m = lens.matrix;
  const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
  if (w <= 0) return [0, 0, w];
  return [(m[0]! * x + m[4]! * y + m[8]! * z + m[12]!) / w, (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!) / w, w];
}

/** Through a point of the picture, from -1 to 1, y upwards. */
export function rayAt(lens: Lens, sx: number, sy: number): Ray {
  const dx = sx * lens.tangent * lens.aspect;
  const dy = sy * lens.tangent;
  const to = [0, 1, 2].map(
    (axis) => lens.forward[axis]! + lens.right[axis]! * dx + lens.up[axis]! * dy,
  ) as unknown as Vec;
  return { from: lens.eye, to };
}

/** Where a ray meets the ground; nothing above the horizon. */
export function groundAt({ from, to }: Ray, z = 0): readonly [number, number] | undefined {
  if (to[2] >= -1e-6) return undefined;
  const t = (z - from[2]) / to[2];
  return [from[0] + to[0] * t, from[1] + to[1] * t];
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** Never out of sight of the city, never in it. */
export function kept(orbit: Orbit, extent: Extent): Orbit {
  const size = Math.max(extent.width, extent.depth, 1);
  return {
    x: clamp(orbit.x, -size * 0.1, extent.width + size * 0.1),
    y: clamp(orbit.y, -size * 0.1, extent.depth + size * 0.1),
    distance: clamp(orbit.distance, 6, size * 6 + 40),
    yaw: orbit.yaw,
    tilt: clamp(orbit.tilt, LEAST_TILT, MOST_TILT),
  };
}

export function turned(orbit: Orbit, yaw: number, tilt: number, extent: Extent): Orbit {
  return kept({ ...orbit, yaw: orbit.yaw + yaw, tilt: orbit.tilt + tilt }, extent);
}

/** By parts of the picture's height: to the right and away. */
export function moved(orbit: Orbit, right: number, away: number, extent: Extent): Orbit {
  const step = 2 * Math.tan(FIELD / 2) * orbit.distance;
  const [sy, cy] = [Math.sin(orbit.yaw), Math.cos(orbit.yaw)];
  const steep = Math.max(0.35, Math.sin(orbit.tilt));
  const [a, b] = [right * step, (away * step) / steep];
  return kept({ ...orbit, x: orbit.x + cy * a - sy * b, y: orbit.y + sy * a + cy * b }, extent);
}

/** Closer (below 1) or farther; the point of the ground that is under the pointer stays there. */
export function scaled(orbit: Orbit, factor: number, extent: Extent, at?: readonly [number, number]): Orbit {
  const distance = kept({ ...orbit, distance: orbit.distance * factor }, extent).distance;
  const part = 1 - distance / orbit.distance;
  if (at === undefined) return { ...orbit, distance };
  return kept(
    { ...orbit, distance, x: orbit.x + (at[0] - orbit.x) * part, y: orbit.y + (at[1] - orbit.y) * part },
    extent,
  );
}

/** All of the city, as large as it fits. */
export function home(extent: Extent, aspect: number, yaw = -0.52, tilt = 0.66): Orbit {
  const start: Orbit = { x: extent.width / 2, y: extent.depth / 2, distance: 1, yaw, tilt };
  const corners: Vec[] = [];
  for (const x of [0, extent.width])
    for (const y of [0, extent.depth]) for (const z of [0, extent.height]) corners.push([x, y, z]);
  const size = Math.max(extent.width, extent.depth, 4);
  let [near, far] = [0.2 * size, 6 * size + 40];
  for (let i = 0; i < 24; ++i) {
    const distance = (near + far) / 2;
    // What is closer takes more room: the middle of the picture is made the middle of the city.
    const lens = lensOf(centred({ ...start, distance }, corners, aspect), aspect);
    const fits = corners.every((corner) => {
      const [x, y, w] = project(lens, corner);
      return w > 0 && Math.abs(x) <= 0.94 && Math.abs(y) <= 0.92;
    });
    if (fits) far = distance;
    else near = distance;
  }
  return centred({ ...start, distance: far }, corners, aspect);
}

function centred(orbit: Orbit, corners: readonly Vec[], aspect: number): Orbit {
  let at = orbit;
  for (let i = 0; i < 3; ++i) {
    const lens = lensOf(at, aspect);
    let [low, high, left, right] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const corner of corners) {
      const [x, y, w] = project(lens, corner);
      if (w <= 0) return orbit;
      low = Math.min(low, y);
      high = Math.max(high, y);
      left = Math.min(left, x);
      right = Math.max(right, x);
    }
    const ground = groundAt(rayAt(lens, (left + right) / 2, (low + high) / 2));
    if (ground === undefined) return at;
    at = { ...at, x: ground[0], y: ground[1] };
  }
  return at;
}

/** From above, as a map lies. */
export function above(extent: Extent, aspect: number): Orbit {
  return home({ ...extent, height: 0 }, aspect, 0, MOST_TILT);
}

/** A place of the city from nearby, seen from where one looks now. */
export function nearTo(orbit: Orbit, x: number, y: number, distance: number, extent: Extent): Orbit {
  return kept({ ...orbit, x, y, distance }, extent);
}

const turns = (angle: number) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

/** On the way from one to the other; `t` from 0 to 1, eased. */
export function between(a: Orbit, b: Orbit, t: number): Orbit {
  const e = t < 0 ? 0 : t > 1 ? 1 : 1 - (1 - t) ** 3;
  const mix = (p: number, q: number) => p + (q - p) * e;
  return {
    x: mix(a.x, b.x),
    y: mix(a.y, b.y),
    distance: Math.exp(mix(Math.log(a.distance), Math.log(b.distance))),
    yaw: a.yaw + turns(b.yaw - a.yaw) * e,
    tilt: mix(a.tilt, b.tilt),
  };
}
