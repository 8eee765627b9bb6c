// Writes dist/ (what VS Code loads, and what is loaded with the first profile) and media/web/ (the page, from
// clients/web/dist). `--watch` builds again on change.
import * as esbuild from "esbuild";
import { cpSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(root, "../web/dist");
const watch = process.argv.includes("--watch");

// What every start of the editor reads.
const MAX_EXTENSION_BYTES = 10_000;

if (!existsSync(join(page, "app.js"))) {
  console.error("clients/web/dist is not there: npm run build in clients/web makes it");
  process.exit(1);
}
rmSync(join(root, "dist"), { recursive: true, force: true });
rmSync(join(root, "media/web"), { recursive: true, force: true });
mkdirSync(join(root, "media/web"), { recursive: true });
for (const name of ["app.js", "app.css", "city.js"]) cpSync(join(page, name), join(root, "media/web", name));

const options = {
  outdir: join(root, "dist"),
  bundle: true,
  minify: !watch,
  sourcemap: watch ? "linked" : false,
  format: "cjs",
  target: ["node20"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};
const bundles = [
  {
    ...options,
    platform: "node",
    entryPoints: { extension: join(root, "src/extension.ts") },
    external: ["vscode", "./main.js", "./recording.js"],
  },
  { ...options, platform: "node", entryPoints: { main: join(root, "src/main.ts") }, external: ["vscode"] },
  { ...options, platform: "node", entryPoints: { recording: join(root, "src/recording.ts") }, external: ["vscode"] },
  { ...options, platform: "browser", entryPoints: { browser: join(root, "src/browser.ts") }, external: ["vscode"] },
];

if (watch) {
  for (const bundle of bundles) await (await esbuild.context(bundle)).watch();
  console.log("watching");
} else {
  for (const bundle of bundles) await esbuild.build(bundle);
  const size = (name) => statSync(join(root, "dist", name)).size;
  console.log(`dist: extension.js ${size("extension.js")} bytes, main.js ${size("main.js")} bytes`);
  if (size("extension.js") > MAX_EXTENSION_BYTES) {
    console.error(`dist/extension.js: more than ${MAX_EXTENSION_BYTES} bytes`);
    process.exit(1);
  }
}
