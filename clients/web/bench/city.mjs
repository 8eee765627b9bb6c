// city.mjs [--methods N] [--standing N] [--frames N] [--size WxH] [--dark] [--gpu] [--city FILE] [--picture FILE]: how fast a made-up
// city is drawn in a headless Chromium, as one line of JSON. Times run until the pixels are there. Without --gpu the
// processor draws, which the line says by the renderer's name.
import * as esbuild from "esbuild";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser } from "../../../tests/e2e/web/harness.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const value = (name, otherwise) => {
  const at = args.indexOf(name);
  return at < 0 ? otherwise : args[at + 1];
};
const [width, height] = value("--size", "1280x720").split("x").map(Number);
const wanted = {
  methods: Number(value("--methods", "50000")),
  standing: Number(value("--standing", "2000")),
  frames: Number(value("--frames", "60")),
  width,
  height,
  dark: args.includes("--dark"),
  ...(value("--city", "") === "" ? {} : { city: JSON.parse(readFileSync(value("--city", ""), "utf8")) }),
};

const built = await esbuild.build({
  entryPoints: [join(here, "city.ts")],
  bundle: true,
  format: "iife",
  target: ["es2022"],
  write: false,
  minify: true,
});
const gpu = args.includes("--gpu")
  ? ["--enable-gpu"]
  : ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await startBrowser(join(here, "../../.."), gpu);
try {
  const page = await browser.newPage({ viewport: { width, height } });
  page.on("console", (message) => console.error(message.text()));
  page.on("pageerror", (error) => console.error(error.stack));
  await page.goto("about:blank");
  await page.addScriptTag({ content: built.outputFiles[0].text });
  const result = await page.evaluate((w) => globalThis.runCity(w), wanted);
  console.log(JSON.stringify(result));
  const picture = value("--picture", "");
  if (picture !== "") await page.screenshot({ path: picture });
} finally {
  await browser.close();
}
