// Writes dist/: index.html, app.js, app.css and icons. `--watch` builds again on change.
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

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join(root, "static"), out, { recursive: true });

const options = {
  entryPoints: { app: join(root, "src/main.tsx") },
  outdir: out,
  bundle: true,
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

if (watch) {
  const context = await esbuild.context(options);
  await context.watch();
  console.log("watching");
} else {
  await esbuild.build(options);
  let bytes = 0;
  let compressed = 0;
  for (const name of readdirSync(out)) {
    const content = readFileSync(join(out, name));
    bytes += content.length;
    compressed += gzipSync(content).length;
  }
  console.log(`dist: ${(bytes / 1000).toFixed(0)} KB, ${(compressed / 1000).toFixed(0)} KB compressed`);
  if (bytes > MAX_BYTES || compressed > MAX_COMPRESSED) {
    console.error(`dist: more than ${MAX_BYTES / 1000} KB, or ${MAX_COMPRESSED / 1000} KB compressed`);
    process.exit(1);
  }
}
