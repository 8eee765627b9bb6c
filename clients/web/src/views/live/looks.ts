// What is told of boxes, whoever draws them.

/** Bits of the look of a box. */
export const LOOK = { waits: 1, demoted: 2, hovered: 4, chosen: 8, added: 16, dimmed: 32, gone: 64 } as const;

export interface Boxes {
  readonly count: number;
  /** x, y, z of each one's near left foot. */
  readonly place: Float32Array;
  /** Lengths of the city. */
  readonly height: Float32Array;
  /** Four each: colour from 0 to 1 along the ramp; bits of LOOK; height before, -1: none; how high it counts as full. */
  readonly look: Float32Array;
}
