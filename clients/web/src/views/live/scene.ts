// The city drawn with three.js: plates, whose flat plots the shader draws, boxes for what stands, and the shade at their
// feet. Loaded when a city is first looked at. Nothing here knows of the daemon or the page.
import * as THREE from "three";
import type { Rgb } from "../../draw/colors.js";
import type { Boxes } from "./looks.js";
import type { City } from "./city.js";
import { project, type Lens } from "./orbit.js";
import type { CityPaints } from "./paints.js";
import { STEP, topOfBlock, topOfDistrict } from "./scale.js";

export interface SceneColors {
  readonly paints: CityPaints;
  readonly ramp: readonly Rgb[];
  readonly dark: boolean;
}

export interface SceneInfo {
  readonly renderer: string;
  /** Drawn by the processor, not by a graphics card. */
  readonly software: boolean;
  readonly calls: number;
  readonly triangles: number;
  /** Bytes that the last picture took to the card. */
  readonly uploaded: number;
}

export interface CityScene {
  setCity(city: City): void;
  setColors(colors: SceneColors): void;
  setSize(width: number, height: number, ratio: number): void;
  /** One picture; of two, each takes half of the width. */
  draw(lens: Lens, panes: readonly Boxes[]): void;
  /** Waits until the picture is there. */
  finish(): void;
  readonly info: SceneInfo;
  dispose(): void;
}

/** Boxes in a row of a texture. */
const WIDE = 256;

// No instances: where the processor draws, each costs as much as hundreds of corners. What is told of a box is in
// textures, and a corner's number says whose it is. Of the sides those are drawn that the eye sees.
const CORNERS = `
precision highp float;
precision highp sampler2D;
uniform mat4 uMatrix;
uniform vec3 uEye;
const vec3 AT[12] = vec3[12](
  vec3(0, 0, 1), vec3(1, 0, 1), vec3(1, 1, 1), vec3(0, 1, 1),
  vec3(0, 0, 0), vec3(0, 1, 0), vec3(0, 1, 1), vec3(0, 0, 1),
  vec3(0, 0, 0), vec3(1, 0, 0), vec3(1, 0, 1), vec3(0, 0, 1));
vec4 told(sampler2D of, int number) {
  return texelFetch(of, ivec2(number % ${WIDE}, number / ${WIDE}), 0);
}
vec3 corner(vec2 middle, out vec3 normal) {
  int number = gl_VertexID % 12;
  vec3 at = AT[number];
  vec2 far = step(middle, uEye.xy);
  normal = vec3(0, 0, 1);
  if (number >= 8) {
    at.y = far.y;
    normal = vec3(0, far.y * 2.0 - 1.0, 0);
  } else if (number >= 4) {
    at.x = far.x;
    normal = vec3(far.x * 2.0 - 1.0, 0, 0);
  }
  return at;
}`;

const PLATE_VERTEX = `${CORNERS}
uniform sampler2D uRects;
uniform sampler2D uInfos;
uniform sampler2D uGrids;
out vec3 vLocal;
flat out vec3 vNormal;
flat out vec4 vSize;
flat out vec4 vPlots;
flat out float vKind;
void main() {
  int plate = gl_VertexID / 12;
  vec4 rect = told(uRects, plate);
  vec4 info = told(uInfos, plate);
  vec4 grid = told(uGrids, plate);
  vec3 p = corner(rect.xy + rect.zw * 0.5, vNormal);
  vec3 at = vec3(rect.xy + p.xy * rect.zw, mix(info.x, info.y, p.z));
  vLocal = vec3(p.xy * rect.zw, at.z - info.x);
  vSize = vec4(rect.zw, info.y - info.x, info.w);
  vPlots = vec4(grid.xy - rect.xy, grid.zw);
  vKind = info.z;
  gl_Position = uMatrix * vec4(at, 1.0);
}`;

const PLATE_FRAGMENT = `
precision highp float;
uniform vec3 uDistrict[5];
uniform vec3 uBlock;
uniform vec3 uPlot;
uniform float uPitch;
uniform float uSide;
uniform float uDark;
in vec3 vLocal;
flat in vec3 vNormal;
flat in vec4 vSize;
flat in vec4 vPlots;
flat in float vKind;
out vec4 color;
void main() {
  vec3 base = vKind > 0.5 ? uBlock : uDistrict[int(min(4.0, vSize.w))];
  vec2 pixel = max(fwidth(vLocal.xy), vec2(1e-5));
  float width = max(pixel.x, pixel.y);
  if (vNormal.z > 0.5) {
    vec2 edge = min(vLocal.xy, vSize.xy - vLocal.xy);
    float rim = min(edge.x, edge.y);
    // A light edge, then a soft fall to the inside: terraces without shadows that cost.
    base *= 1.0 + (uDark > 0.5 ? 0.16 : 0.05) * (1.0 - smoothstep(0.05, 0.16 + width, rim));
    base *= 1.0 - (vKind > 0.5 ? 0.05 : 0.035) * (1.0 - smoothstep(0.0, 1.6, rim - 0.16));
    if (vKind > 0.5) {
      vec2 grid = (vLocal.xy - vPlots.xy) / uPitch;
      vec2 cell = floor(grid);
      vec2 in_cell = (grid - cell) * uPitch;
      float number = cell.y * vPlots.z + cell.x;
      float there = step(0.0, cell.x) * step(0.0, cell.y) * step(cell.x + 0.5, vPlots.z) * step(number + 0.5, vPlots.w);
      vec2 inner = min(in_cell, uSide - in_cell);
      float sharp = smoothstep(-0.5 * width, 0.5 * width, min(inner.x, inner.y));
      // Where plots are smaller than pixels: as much of their colour as they have of the ground.
      float covered = mix(sharp, (uSide * uSide) / (uPitch * uPitch), smoothstep(0.25, 0.9, width));
      base = mix(base, uPlot, there * covered);
    }
  } else {
    float up = vLocal.z / max(1e-4, vSize.z);
    float side = vNormal.y < -0.5 ? 0.86 : (vNormal.x < -0.5 ? 0.94 : 0.76);
    base *= side * (0.86 + 0.14 * up);
  }
  color = vec4(base, 1.0);
}`;

const BOX_VERTEX = `${CORNERS}
uniform sampler2D uPlaces;
uniform sampler2D uLooks;
uniform float uSide;
out vec3 vLocal;
flat out vec3 vNormal;
flat out vec4 vLook;
flat out float vTop;
void main() {
  int box = gl_VertexID / 12;
  vec4 place = told(uPlaces, box);
  vLook = told(uLooks, box);
  vTop = place.w;
  vec3 p = corner(place.xy + uSide * 0.5, vNormal);
  vLocal = vec3(p.xy * uSide, p.z * max(place.w, vLook.z));
  gl_Position = uMatrix * vec4(place.xyz + vLocal, 1.0);
}`;

const BOX_FRAGMENT = `
precision highp float;
uniform vec3 uRamp[33];
uniform vec3 uChosen;
uniform vec3 uMark;
uniform float uSide;
uniform float uDark;
in vec3 vLocal;
flat in vec3 vNormal;
flat in vec4 vLook;
flat in float vTop;
out vec4 color;
bool has(int bit) { return (int(vLook.y + 0.5) & bit) != 0; }
void main() {
  float at = clamp(vLook.x, 0.0, 1.0) * 32.0;
  int low = int(at);
  vec3 base = mix(uRamp[low], uRamp[min(32, low + 1)], at - float(low));
  vec3 pixel = max(fwidth(vLocal), vec3(1e-5));
  bool ghost = vLocal.z > vTop + 0.01;
  // Along the side that is seen; on top across.
  float across = vNormal.z > 0.5 ? vLocal.x + vLocal.y : (abs(vNormal.x) > 0.5 ? vLocal.y : vLocal.x) + vLocal.z;
  float width = max(pixel.x, max(pixel.y, pixel.z));
  // What it was before and is no more: every second strip of it.
  if (ghost && fract(across / 0.5) < 0.62) discard;
  if (has(2)) {
    // Hatched in both directions: its time is in its callers.
    float other = vNormal.z > 0.5 ? vLocal.x - vLocal.y : (abs(vNormal.x) > 0.5 ? vLocal.y : vLocal.x) - vLocal.z;
    vec2 lines = abs(fract(vec2(across, other) / 0.42) - 0.5);
    float line = 1.0 - smoothstep(0.09, 0.09 + width * 2.4, min(lines.x, lines.y));
    base = mix(base, uMark, 0.6 * line * (1.0 - smoothstep(0.1, 0.4, width)));
  }
  if (vNormal.z > 0.5) {
    vec2 edge = min(vLocal.xy, uSide - vLocal.xy);
    base *= 1.02 + 0.1 * (1.0 - smoothstep(0.04, 0.1 + width, min(edge.x, edge.y)));
  } else {
    float side = vNormal.y < -0.5 ? 0.84 : (vNormal.x < -0.5 ? 0.93 : 0.7);
    // Dark at the foot, as light does not get there.
    side *= mix(0.7, 1.0, smoothstep(0.0, 1.7, vLocal.z));
    // A floor is a tenth of the window.
    float floors = vLocal.z / max(1e-4, vLook.w * 0.1);
    float f = fwidth(floors);
    float line = 1.0 - smoothstep(0.0, f * 1.2, abs(fract(floors + 0.5) - 0.5));
    side *= 1.0 - 0.2 * line * (1.0 - smoothstep(0.08, 0.22, f)) * step(0.5, floors);
    base *= side;
  }
  if (has(1)) {
    // Striped: it waits.
    float stripe = fract(across / 0.7);
    float edge = width / 0.7;
    float on = smoothstep(0.5 - edge, 0.5 + edge, stripe) * (1.0 - smoothstep(1.0 - edge, 1.0, stripe));
    base = mix(base, uMark, 0.5 * mix(on, 0.5, smoothstep(0.3, 0.8, edge)));
  }
  if (has(16)) {
    // New: a frame of marks on its top.
    vec2 edge = min(vLocal.xy, uSide - vLocal.xy);
    if (vNormal.z > 0.5 && min(edge.x, edge.y) < 0.16) base = uMark;
  }
  if (has(64)) {
    // Gone: crossed out on its top.
    float cross_out = min(abs(vLocal.x - vLocal.y), abs(vLocal.x + vLocal.y - uSide));
    if (vNormal.z > 0.5 && cross_out < 0.14) base = uMark;
  }
  if (has(32)) base = mix(base, vec3(uDark > 0.5 ? 0.3 : 0.8), 0.8);
  if (has(8) || has(4)) {
    vec3 edges = vec3(min(vLocal.x, uSide - vLocal.x), min(vLocal.y, uSide - vLocal.y), min(vLocal.z, max(vTop, vLook.z) - vLocal.z));
    vec3 seen = vNormal.z > 0.5 ? vec3(edges.x, edges.y, 9.0) : (abs(vNormal.x) > 0.5 ? vec3(9.0, edges.y, edges.z) : vec3(edges.x, 9.0, edges.z));
    float near = min(seen.x, min(seen.y, seen.z));
    float line = 1.0 - smoothstep(max(0.07, width * 1.2), max(0.1, width * 2.0), near);
    // Of what is narrower than some pixels an edge would be all there is.
    line *= 1.0 - smoothstep(0.1, 0.3, width);
    base = mix(mix(base, uChosen, (has(8) ? 0.55 : 0.3) * mix(0.25, 1.0, smoothstep(0.1, 0.3, width))), uChosen, line);
  }
  color = vec4(base, 1.0);
}`;

// Of each box the first four corners, laid around its foot.
const SHADE_VERTEX = `${CORNERS}
uniform sampler2D uPlaces;
uniform float uSide;
out vec2 vLocal;
flat out float vReach;
void main() {
  vec4 place = told(uPlaces, gl_VertexID / 12);
  vReach = min(1.5, 0.2 + place.w * 0.22);
  vLocal = mix(vec2(-vReach), vec2(uSide + vReach), AT[gl_VertexID % 12].xy);
  gl_Position = uMatrix * vec4(place.xyz + vec3(vLocal, 0.012), 1.0);
}`;

const SHADE_FRAGMENT = `
precision highp float;
uniform float uSide;
uniform float uDark;
in vec2 vLocal;
flat in float vReach;
out vec4 color;
void main() {
  vec2 out_of = max(max(-vLocal, vLocal - uSide), 0.0);
  float near = 1.0 - clamp(length(out_of) / vReach, 0.0, 1.0);
  color = vec4(0.0, 0.0, 0.02, near * near * (uDark > 0.5 ? 0.5 : 0.3));
}`;

interface Uniform {
  value: unknown;
}

const vec = ([r, g, b]: Rgb) => new THREE.Vector3(r / 255, g / 255, b / 255);

// Which corners make the triangles of a box: its top, its two sides.
const TOP_INDEX = [0, 1, 2, 0, 2, 3];
const SIDE_INDEX = [4, 5, 6, 4, 6, 7, 8, 9, 10, 8, 10, 11];

/** Four numbers for each box, for a shader to look up. */
class Told {
  values: Float32Array;
  texture: THREE.DataTexture;

  constructor(count: number) {
    const rows = Math.max(1, Math.ceil(count / WIDE));
    this.values = new Float32Array(rows * WIDE * 4);
    this.texture = new THREE.DataTexture(this.values, WIDE, rows, THREE.RGBAFormat, THREE.FloatType);
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
  }
}

/** Sides of plates that are so few pixels high are not drawn, and no shade that is so small. */
const LEAST_SIDE = 0.8;
const LEAST_SHADE = 2.2;

/** The plates: their tops always, their sides where they are seen. */
class PlateLayer {
  private geometry = new THREE.BufferGeometry();
  private rects = new Told(0);
  private infos = new Told(0);
  private grids = new Told(0);
  private index = new THREE.BufferAttribute(new Uint32Array(0), 1);
  private count = 0;
  private seen = new Uint32Array(0);
  readonly mesh: THREE.Mesh;

  constructor(
    material: THREE.RawShaderMaterial,
    private readonly uniforms: { uRects: Uniform; uInfos: Uniform; uGrids: Uniform },
  ) {
    this.mesh = new THREE.Mesh(this.geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
    this.mesh.visible = false;
  }

  /** Gives the bytes that go to the card. */
  take(city: City): number {
    this.dispose();
    const { districts, blocks } = city;
    const count = districts.count + blocks.count;
    this.count = count;
    this.rects = new Told(count);
    this.infos = new Told(count);
    this.grids = new Told(count);
    const put = (at: number, rects: City["blocks"] | City["districts"], row: number, top: number, kind: number) => {
      this.rects.values.set([rects.x[row]!, rects.y[row]!, rects.w[row]!, rects.h[row]!], at * 4);
      this.infos.values.set([top - STEP, top, kind, rects.level[row]!], at * 4);
    };
    for (let row = 0; row < blocks.count; ++row) {
      put(row, blocks, row, topOfBlock(blocks.level[row]!), 1);
      this.grids.values.set([blocks.x0[row]!, blocks.y0[row]!, blocks.columns[row]!, blocks.plots[row]!], row * 4);
    }
    // The higher ones first, as they hide those on which they stand.
    const order = Array.from({ length: districts.count }, (_, row) => row);
    order.sort((one, other) => districts.level[other]! - districts.level[one]!);
    order.forEach((row, i) => put(blocks.count + i, districts, row, topOfDistrict(districts.level[row]!), 0));
    this.uniforms.uRects.value = this.rects.texture;
    this.uniforms.uInfos.value = this.infos.texture;
    this.uniforms.uGrids.value = this.grids.texture;
    // Tops of all, then room for the sides that are seen.
    const index = new Uint32Array(count * 18);
    for (let plate = 0; plate < count; ++plate)
      for (let i = 0; i < 6; ++i) index[plate * 6 + i] = plate * 12 + TOP_INDEX[i]!;
    this.index = new THREE.BufferAttribute(index, 1).setUsage(THREE.DynamicDrawUsage);
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setIndex(this.index);
    this.geometry.setDrawRange(0, count * 6);
    this.seen = new Uint32Array(0);
    this.mesh.geometry = this.geometry;
    this.mesh.visible = count > 0;
    return this.rects.values.byteLength * 3 + index.byteLength;
  }

  /** Finds the sides that are seen; gives the bytes that go to the card. */
  see(lens: Lens, pixels: number): number {
    const seen: number[] = [];
    if (STEP * pixels >= LEAST_SIDE) {
      const rect = this.rects.values;
      for (let i = 0; i < this.count; ++i) {
        const at = i * 4;
        const [w, h] = [rect[at + 2]! / 2, rect[at + 3]! / 2];
        const [x, y, depth] = project(lens, [rect[at]! + w, rect[at + 1]! + h, this.infos.values[at + 1]!]);
        const size = Math.hypot(w, h);
        const reach = size / (Math.max(depth, 0.01) * lens.tangent);
        if (depth <= 0 ? depth > -size : Math.abs(x) < 1 + reach / lens.aspect && Math.abs(y) < 1 + reach) seen.push(i);
      }
    }
    if (seen.length === this.seen.length && seen.every((row, i) => row === this.seen[i])) return 0;
    this.seen = Uint32Array.from(seen);
    const first = this.count * 6;
    const index = this.index.array as Uint32Array;
    seen.forEach((plate, n) => {
      for (let i = 0; i < 12; ++i) index[first + n * 12 + i] = plate * 12 + SIDE_INDEX[i]!;
    });
    this.index.clearUpdateRanges();
    this.index.addUpdateRange(first, seen.length * 12);
    this.index.needsUpdate = true;
    this.geometry.setDrawRange(0, first + seen.length * 12);
    return seen.length * 48;
  }

  dispose(): void {
    this.geometry.dispose();
    for (const told of [this.rects, this.infos, this.grids]) told.dispose();
  }
}

/** Boxes and the shade at their feet. */
class BoxLayer {
  private room = 0;
  private places = new Told(0);
  private looks = new Told(0);
  private boxes = new THREE.BufferGeometry();
  private shades = new THREE.BufferGeometry();
  readonly boxMesh: THREE.Mesh;
  readonly shadeMesh: THREE.Mesh;

  constructor(box: THREE.RawShaderMaterial, shade: THREE.RawShaderMaterial) {
    this.boxMesh = new THREE.Mesh(this.boxes, box);
    this.shadeMesh = new THREE.Mesh(this.shades, shade);
    for (const mesh of [this.boxMesh, this.shadeMesh]) mesh.frustumCulled = false;
    // What is in front first: what is behind it costs nothing then. Shade lies on what is there.
    this.boxMesh.renderOrder = 0;
    this.shadeMesh.renderOrder = 2;
  }

  get textures(): { readonly places: THREE.DataTexture; readonly looks: THREE.DataTexture } {
    return { places: this.places.texture, looks: this.looks.texture };
  }

  /** Gives the bytes that go to the card. */
  take({ count, place, height, look }: Boxes): number {
    if (count > this.room) this.grow(count);
    const values = this.places.values;
    for (let i = 0; i < count; ++i) {
      values[i * 4] = place[i * 3]!;
      values[i * 4 + 1] = place[i * 3 + 1]!;
      values[i * 4 + 2] = place[i * 3 + 2]!;
      values[i * 4 + 3] = height[i]!;
    }
    this.looks.values.set(look.subarray(0, count * 4));
    this.places.texture.needsUpdate = true;
    this.looks.texture.needsUpdate = true;
    this.boxes.setDrawRange(0, count * 18);
    this.shades.setDrawRange(0, count * 6);
    this.boxMesh.visible = count > 0;
    return values.byteLength + this.looks.values.byteLength;
  }

  private grow(count: number): void {
    this.dispose();
    this.room = Math.ceil(Math.max(WIDE, count * 1.25) / WIDE) * WIDE;
    this.places = new Told(this.room);
    this.looks = new Told(this.room);
    const boxes = new Uint32Array(this.room * 18);
    const shades = new Uint32Array(this.room * 6);
    const all = [...TOP_INDEX, ...SIDE_INDEX];
    for (let box = 0; box < this.room; ++box) {
      for (let i = 0; i < 18; ++i) boxes[box * 18 + i] = box * 12 + all[i]!;
      for (let i = 0; i < 6; ++i) shades[box * 6 + i] = box * 12 + TOP_INDEX[i]!;
    }
    this.boxes = new THREE.BufferGeometry();
    this.boxes.setIndex(new THREE.BufferAttribute(boxes, 1));
    this.shades = new THREE.BufferGeometry();
    this.shades.setIndex(new THREE.BufferAttribute(shades, 1));
    this.boxMesh.geometry = this.boxes;
    this.shadeMesh.geometry = this.shades;
  }

  dispose(): void {
    this.boxes.dispose();
    this.shades.dispose();
    this.places.dispose();
    this.looks.dispose();
  }
}

/** Who draws, as the browser says; asked before the real canvas is made, as that decides how it is made. */
function rendererName(): string {
  const context = document.createElement("canvas").getContext("webgl2");
  if (context === null) return "";
  const more = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(more === null ? context.RENDERER : more.UNMASKED_RENDERER_WEBGL));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

/** Nothing where the browser has no WebGL. */
export function createScene(canvas: HTMLCanvasElement): CityScene | undefined {
  const name = rendererName();
  if (name === "") return undefined;
  const software = /swiftshader|llvmpipe|software|basic render/i.test(name);
  let renderer: THREE.WebGLRenderer;
  try {
    renderer = new THREE.WebGLRenderer({
      canvas,
      antialias: !software,
      alpha: false,
      powerPreference: "high-performance",
    });
  } catch {
    return undefined;
  }
  renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
  renderer.sortObjects = true;

  const uPlaces: Uniform = { value: undefined };
  const shared = {
    uMatrix: { value: new Float32Array(16) as Float32Array },
    uEye: { value: new THREE.Vector3() },
    uSide: { value: 1 },
    uDark: { value: 0 },
  };
  const plateUniforms = {
    ...shared,
    uPitch: { value: 4 / 3 },
    uDistrict: { value: [] as THREE.Vector3[] },
    uBlock: { value: new THREE.Vector3() },
    uPlot: { value: new THREE.Vector3() },
    uRects: { value: undefined } as Uniform,
    uInfos: { value: undefined } as Uniform,
    uGrids: { value: undefined } as Uniform,
  };
  const boxUniforms = {
    ...shared,
    uRamp: { value: [] as THREE.Vector3[] },
    uChosen: { value: new THREE.Vector3() },
    uMark: { value: new THREE.Vector3() },
    uPlaces,
    uLooks: { value: undefined } as Uniform,
  };
  const opaque = { glslVersion: THREE.GLSL3, blending: THREE.NoBlending, side: THREE.DoubleSide };
  const plateMaterial = new THREE.RawShaderMaterial({
    ...opaque,
    vertexShader: PLATE_VERTEX,
    fragmentShader: PLATE_FRAGMENT,
    uniforms: plateUniforms,
  });
  const boxMaterial = new THREE.RawShaderMaterial({
    ...opaque,
    vertexShader: BOX_VERTEX,
    fragmentShader: BOX_FRAGMENT,
    uniforms: boxUniforms,
  });
  const shadeMaterial = new THREE.RawShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: SHADE_VERTEX,
    fragmentShader: SHADE_FRAGMENT,
    uniforms: { ...shared, uPlaces },
    transparent: true,
    depthWrite: false,
    blending: THREE.NormalBlending,
  });

  const scene = new THREE.Scene();
  const camera = new THREE.Camera();
  const plates = new PlateLayer(plateMaterial, plateUniforms);
  const layers = [new BoxLayer(boxMaterial, shadeMaterial)];
  scene.add(plates.mesh, layers[0]!.shadeMesh, layers[0]!.boxMesh);

  let size = { width: 1, height: 1 };
  let uploaded = 0;
  let uploadedLast = 0;
  let drawn = { calls: 0, triangles: 0 };
  const pixel = new Uint8Array(4);

  return {
    setCity(city) {
      uploaded += plates.take(city);
      plateUniforms.uPitch.value = city.pitch;
      shared.uSide.value = city.side;
    },
    setColors({ paints, ramp, dark }) {
      plateUniforms.uDistrict.value = [0, 1, 2, 3, 4].map((level) => vec(paints.district(level)));
      plateUniforms.uBlock.value = vec(paints.block);
      plateUniforms.uPlot.value = vec(paints.plot);
      boxUniforms.uRamp.value = ramp.map(vec);
      boxUniforms.uChosen.value = vec(paints.chosen);
      boxUniforms.uMark.value = dark ? new THREE.Vector3(0.93, 0.94, 0.97) : new THREE.Vector3(0.16, 0.17, 0.22);
      shared.uDark.value = dark ? 1 : 0;
      const [r, g, b] = paints.ground;
      renderer.setClearColor(new THREE.Color().setRGB(r / 255, g / 255, b / 255), 1);
    },
    setSize(width, height, ratio) {
      // Without a card each pixel costs: as many as the page has, no more.
      renderer.setPixelRatio(software ? 1 : Math.min(2, ratio));
      renderer.setSize(width, height, false);
      size = { width, height };
    },
    draw(lens, panes) {
      shared.uMatrix.value = lens.matrix;
      shared.uEye.value.set(...lens.eye);
      // Pixels of one length of the city, where one looks.
      const pixels = size.height / (2 * lens.tangent * lens.distance);
      uploaded += plates.see(lens, pixels);
      while (layers.length < panes.length) {
        const layer = new BoxLayer(boxMaterial, shadeMaterial);
        layers.push(layer);
        scene.add(layer.shadeMesh, layer.boxMesh);
      }
      let calls = 0;
      let triangles = 0;
      const bytes = panes.map((boxes, i) => layers[i]!.take(boxes)).reduce((a, b) => a + b, 0);
      const shownBoxes = layers.map(({ boxMesh }) => boxMesh.visible);
      renderer.setScissorTest(panes.length > 1);
      panes.forEach((_, pane) => {
        layers.forEach(({ boxMesh, shadeMesh }, i) => {
          boxMesh.visible = i === pane && shownBoxes[i]!;
          shadeMesh.visible = boxMesh.visible && pixels >= LEAST_SHADE;
        });
        const { places, looks } = layers[pane]!.textures;
        uPlaces.value = places;
        boxUniforms.uLooks.value = looks;
        const width = Math.floor(size.width / panes.length);
        const x = pane * width;
        renderer.setViewport(x, 0, width, size.height);
        if (panes.length > 1) renderer.setScissor(x, 0, width, size.height);
        renderer.render(scene, camera);
        calls += renderer.info.render.calls;
        triangles += renderer.info.render.triangles;
      });
      drawn = { calls, triangles };
      uploadedLast = bytes + uploaded;
      uploaded = 0;
    },
    finish() {
      const context = renderer.getContext();
      context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel);
    },
    get info() {
      return { renderer: name, software, ...drawn, uploaded: uploadedLast };
    },
    dispose() {
      plates.dispose();
      for (const layer of layers) layer.dispose();
      for (const material of [plateMaterial, boxMaterial, shadeMaterial]) material.dispose();
      renderer.dispose();
      renderer.forceContextLoss();
    },
  };
}
