// Writes dist/: index.html, app.js, app.css, icons, and city.js, which the page loads when it shows a city. `--watch` builds
// again on change.
import * as esbuild from "esbuild";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "dist");
const watch = process.argv.includes("--watch");

// What the daemon embeds and a slow line must carry; a library too many shows here.
const MAX_BYTES = 1_000_000;
const MAX_COMPRESSED = 400_000;
// The same of what is loaded when a city is looked at.
const CITY = "city.js";
const MAX_CITY_BYTES = 800_000;
const MAX_CITY_COMPRESSED = 200_000;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join(root, "static"), out, { recursive: true });

const options = {
  entryPoints: { app: join(root, "src/main.tsx"), city: join(root, "src/views/live/chunk.ts") },
  outdir: out,
  bundle: true,
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "eof",
  logLevel: "warning",
};

if (watch) {
  const context = await esbuild.context(options);
  await context.watch();
  console.log("watching");
} else {
  await esbuild.build(options);
  const sizeOf = (names) => {
    const contents = names.map((name) => readFileSync(join(out, name)));
    return {
      bytes: contents.reduce((sum, content) => sum + content.length, 0),
      compressed: contents.reduce((sum, content) => sum + gzipSync(content).length, 0),
    };
  };
  const check = (what, { bytes, compressed }, most, mostCompressed) => {
    console.log(`${what}: ${(bytes / 1000).toFixed(0)} KB, ${(compressed / 1000).toFixed(0)} KB compressed`);
    if (bytes <= most && compressed <= mostCompressed) return;
    console.error(`${what}: more than ${most / 1000} KB, or ${mostCompressed / 1000} KB compressed`);
    process.exit(1);
  };
  const page = readdirSync(out).filter((name) => name !== CITY);
  check("dist", sizeOf(page), MAX_BYTES, MAX_COMPRESSED);
  check(CITY, sizeOf([CITY]), MAX_CITY_BYTES, MAX_CITY_COMPRESSED);
}
