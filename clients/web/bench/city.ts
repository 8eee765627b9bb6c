// The page of bench/city.mjs: a made-up city, drawn again and again.
import type { LiveCityResult } from "../../shared/ts/psp.js";
import { apply, cityOf, noneStanding, standingRows } from "../src/views/live/city.js";
import { boxSetOf, ease, lookAt } from "../src/views/live/boxes.js";
import { heatRamp, paintsOf } from "../src/views/live/paints.js";
import { home, lensOf, turned } from "../src/views/live/orbit.js";
import { hitInCity, placesOf } from "../src/views/live/pick.js";
import { rayAt } from "../src/views/live/orbit.js";
import { extentOf } from "../src/views/live/scale.js";
import { createScene } from "../src/views/live/scene.js";
import { madeCity, madeHeights } from "../test/madecity.js";

export interface Wanted {
  readonly methods: number;
  readonly standing: number;
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  /** An answer of the daemon to draw instead of a made-up one. */
  readonly city?: LiveCityResult | undefined;
}

const quantile = (values: readonly number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * q)]!;

async function run(wanted: Wanted) {
  const { width, height } = wanted;
  const canvas = document.createElement("canvas");
  canvas.style.cssText = `width:${width}px;height:${height}px;display:block`;
  document.body.style.margin = "0";
  document.body.append(canvas);
  const scene = createScene(canvas);
  if (scene === undefined) return { error: "no WebGL" };
  const begin = performance.now();
  const city = cityOf(wanted.city ?? madeCity(wanted.methods));
  const standing = noneStanding(city.plots.count);
  const made = performance.now() - begin;
  const mode = wanted.dark ? "dark" : "light";
  scene.setColors({ paints: paintsOf(mode), ramp: heatRamp(mode), dark: wanted.dark });
  scene.setSize(width, height, 1);
  scene.setCity(city);
  const extent = extentOf(city);
  let orbit = home(extent, width / height);
  const look = { chosen: -1, hovered: -1, matches: undefined, colorBy: "heat", ofBefore: false } as const;
  const script: number[] = [];
  const frame: number[] = [];
  const uploads: number[] = [];
  let set = boxSetOf(city, new Uint32Array(0), undefined);
  for (let i = 0; i < wanted.frames + 3; ++i) {
    const start = performance.now();
    // A new picture of heights each sixth frame, as ten a second are at sixty.
    if (i % 6 === 0) {
      apply(city, standing, madeHeights(city.plots.count, wanted.standing, i / 60), true);
      const rows = standingRows(city, standing, []);
      if (rows.length !== set.count || rows.some((row, at) => row !== set.rows[at])) set = boxSetOf(city, rows, set);
      lookAt(city, standing, set, look);
    }
    ease(set, i === 0 ? Infinity : 16);
    if (i < wanted.frames) orbit = turned(orbit, 0.01, 0, extent);
    scene.draw(lensOf(orbit, width / height), [set]);
    const scripted = performance.now() - start;
    scene.finish();
    const whole = performance.now() - start;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (i < 3) continue;
    script.push(scripted);
    frame.push(whole);
    uploads.push(scene.info.uploaded);
  }
  const places = placesOf(city);
  const lens = lensOf(orbit, width / height);
  const picks: number[] = [];
  for (let i = 0; i < 200; ++i) {
    const start = performance.now();
    hitInCity(city, places, set.rows, set.height, rayAt(lens, Math.sin(i) * 0.8, Math.cos(i * 1.7) * 0.8));
    picks.push(performance.now() - start);
  }
  // As it is shown first.
  scene.draw(lensOf(home(extent, width / height), width / height), [set]);
  scene.finish();
  const { info } = scene;
  return {
    renderer: info.renderer,
    software: info.software,
    methods: city.plots.count,
    blocks: city.blocks.count,
    districts: city.districts.count,
    standing: set.count,
    madeMs: made,
    frameMs: { p50: quantile(frame, 0.5), p95: quantile(frame, 0.95) },
    scriptMs: { p50: quantile(script, 0.5), p95: quantile(script, 0.95) },
    pickMs: { p50: quantile(picks, 0.5), p95: quantile(picks, 0.95) },
    calls: info.calls,
    triangles: info.triangles,
    uploadedBytes: Math.max(...uploads),
  };
}

(globalThis as { runCity?: typeof run }).runCity = run;
