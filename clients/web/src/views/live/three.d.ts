// The part of three.js that the city is drawn with; the package brings no types.
declare module "three" {
  export class BufferAttribute {
    constructor(array: Float32Array | Uint32Array, itemSize: number);
    array: Float32Array | Uint32Array;
    needsUpdate: boolean;
    clearUpdateRanges(): void;
    addUpdateRange(start: number, count: number): void;
    setUsage(usage: number): this;
  }
  export class DataTexture {
    constructor(data: Float32Array, width: number, height: number, format: number, type: number);
    needsUpdate: boolean;
    dispose(): void;
  }
  export const RGBAFormat: number;
  export const FloatType: number;
  export const DynamicDrawUsage: number;
  export const GLSL3: string;
  export const DoubleSide: number;
  export const NoBlending: number;
  export const NormalBlending: number;
  export class BufferGeometry {
    setIndex(index: BufferAttribute): this;
    setDrawRange(start: number, count: number): void;
    dispose(): void;
  }
  export class RawShaderMaterial {
    constructor(parameters: {
      vertexShader: string;
      fragmentShader: string;
      uniforms: Record<string, { value: unknown }>;
      glslVersion?: string;
      transparent?: boolean;
      depthWrite?: boolean;
      blending?: number;
      side?: number;
    });
    dispose(): void;
  }
  export class Vector3 {
    constructor(x?: number, y?: number, z?: number);
    set(x: number, y: number, z: number): this;
  }
  export class Color {
    constructor(color?: string);
    setRGB(r: number, g: number, b: number): this;
  }
  export class Object3D {
    frustumCulled: boolean;
    renderOrder: number;
    visible: boolean;
    matrixAutoUpdate: boolean;
    add(...objects: Object3D[]): this;
    remove(...objects: Object3D[]): this;
  }
  export class Mesh extends Object3D {
    constructor(geometry: BufferGeometry, material: RawShaderMaterial);
    geometry: BufferGeometry;
  }
  export class Scene extends Object3D {}
  export class Camera extends Object3D {
    matrixWorldAutoUpdate: boolean;
  }
  export interface WebGLInfo {
    readonly render: { readonly calls: number; readonly triangles: number };
  }
  export class WebGLRenderer {
    constructor(parameters: {
      canvas: HTMLCanvasElement;
      antialias?: boolean;
      alpha?: boolean;
      powerPreference?: string;
    });
    readonly info: WebGLInfo;
    outputColorSpace: string;
    sortObjects: boolean;
    setPixelRatio(ratio: number): void;
    setSize(width: number, height: number, updateStyle?: boolean): void;
    setViewport(x: number, y: number, width: number, height: number): void;
    setScissor(x: number, y: number, width: number, height: number): void;
    setScissorTest(on: boolean): void;
    setClearColor(color: Color, alpha?: number): void;
    getContext(): WebGL2RenderingContext;
    render(scene: Scene, camera: Camera): void;
    dispose(): void;
    forceContextLoss(): void;
  }
  export const LinearSRGBColorSpace: string;
}
