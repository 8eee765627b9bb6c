// Pictures of every view, wide and narrow, at 100 % and 200 %, to be looked at; and sheets of them. In dark and light
// and, where the pattern names them, in the looks with more contrast.
// Usage: node pictures.mjs PROFD SOURCE_ROOT FOLDER FILE...   (PROFD_PICTURES=REGEX: only pictures whose name matches)
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startBrowser, Views, watch } from "./harness.mjs";

const [profd, root, folder, ...files] = process.argv.slice(2);
const only = new RegExp(process.env.PROFD_PICTURES ?? "");
const { startBridge } = await import(pathToFileURL(join(root, "clients/web/tools/bridge.mjs")));
const seen = {};
const bridge = await startBridge(profd, { onText: watch(seen) });
bridge.layouts = seen.layouts;
const browser = await startBrowser(root, ["--hide-scrollbars"]);
mkdirSync(folder, { recursive: true });

const SIZES = [
  { id: "wide", viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1 },
  { id: "wide200", viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  { id: "narrow", viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 },
  { id: "narrow200", viewport: { width: 195, height: 422 }, deviceScaleFactor: 2 },
];

const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  "contrast-light": { colorScheme: "light", contrast: "more" },
  "contrast-dark": { colorScheme: "dark", contrast: "more" },
  forced: { colorScheme: "dark", forcedColors: "active" },
};
const USUAL = ["light", "dark"];

const quiet = (views) => views.page.waitForTimeout(700);
/** The widest box some rows down: where a reader looks first. */
const inner = (views) => {
  const { boxes, names } = views.layout();
  let best = -1;
  for (let i = 1; i < boxes.depth.length; ++i)
    if (boxes.depth[i] === Math.min(4, Math.max(...boxes.depth)) && (best < 0 || boxes.width[i] > boxes.width[best]))
      best = i;
  return best < 0 ? names[boxes.name[0]] : names[boxes.name[best]];
};

const SCENES = [
  { id: "flame" },
  { id: "zoomed", act: async (views) => views.clickBox(inner(views)) },
  { id: "search", with: ({ word }) => `&search=${encodeURIComponent(word)}` },
  {
    id: "filters",
    with: ({ hottest }) =>
      `&view=${encodeURIComponent(`bottom-up by function | collapse recursion | hide function ${JSON.stringify(hottest)}`)}`,
  },
  { id: "tree", with: () => "&tab=tree", act: async (views) => views.page.keyboard.press("*") },
  { id: "flat", with: () => "&tab=flat" },
  { id: "sandwich", with: ({ hottest }) => `&tab=sandwich&function=${encodeURIComponent(hottest)}` },
  { id: "source", with: ({ hottest }) => `&tab=source&function=${encodeURIComponent(hottest)}` },
  { id: "threads", with: () => "&tab=threads" },
  { id: "profile", with: () => "&tab=profile" },
  { id: "timeline", with: () => "&tab=timeline" },
  { id: "within", with: ({ hottest }) => `&tab=source&within=auto&function=${encodeURIComponent(hottest)}` },
  { id: "work", with: () => "&color=work" },
  { id: "scripts", with: () => "&tab=analyses" },
  { id: "open", with: () => "&tab=open" },
  { id: "menu", act: async (views) => views.clickBox(inner(views), { button: "right" }) },
  { id: "export", act: async (views) => views.page.keyboard.press("e") },
  {
    id: "tooltip",
    act: async (views) => {
      const { x, y } = await views.place(inner(views));
      await views.page.mouse.move(x, y);
    },
  },
  { id: "keys", act: async (views) => views.page.keyboard.press("?") },
  {
    id: "lost",
    act: async (views) => {
      await views.page.context().setOffline(true);
      bridge.killDaemons();
    },
  },
  { id: "broken", file: join(root, "README.md") },
];

function factsOf(file) {
  const { names, rows } = JSON.parse(execFileSync(profd, ["top", "--json", "-n", "1", file], { encoding: "utf8" }));
  const hottest = names[rows.name[0]];
  const word = /[a-z]{4,}/i.exec(hottest.split(/[.:/]+/).at(-1) ?? "")?.[0] ?? hottest.slice(0, 4);
  return { hottest, word };
}

const taken = [];
for (const file of files) {
  const facts = factsOf(file);
  for (const size of SIZES)
    for (const look of Object.keys(LOOKS))
      for (const scene of SCENES) {
        const name = [basename(file), size.id, scene.id, look].join("-");
        if (!only.test(name) || (!USUAL.includes(look) && !only.source.includes(look))) continue;
        const context = await browser.newContext({ ...size, ...LOOKS[look] });
        const views = new Views(await context.newPage(), bridge);
        try {
          const from = `&root=${encodeURIComponent(`file://${join(root, "tests/fixtures/go-demo")}`)}`;
          await views.open(resolve(scene.file ?? file), from + (scene.with?.(facts) ?? ""));
          await quiet(views);
          if (scene.act !== undefined) {
            await scene.act(views);
            await quiet(views);
          }
        } catch (error) {
          console.log(`${name}: ${error.message.split("\n")[0]}`);
        }
        const path = join(folder, `${name}.png`);
        await views.page.screenshot({ path });
        taken.push({ name, path, sheet: [basename(file), size.id].join("-"), size });
        await context.close();
      }
}

/** Pictures of one profile and size side by side, as many as can still be read. */
async function sheet(name, pictures, wide) {
  const page = await browser.newPage({ viewport: { width: 1840, height: 400 } });
  const image = ({ name: of, path }) =>
    `<figure><img src="data:image/png;base64,${readFileSync(path).toString("base64")}"><figcaption>${of}</figcaption></figure>`;
  await page.setContent(
    `<style>body{margin:8px;background:#777;font:14px sans-serif;display:grid;gap:8px;grid-template-columns:repeat(${wide ? 2 : 5},1fr)}` +
      `figure{margin:0}img{width:100%;display:block}</style>${pictures.map(image).join("")}`,
  );
  await page.screenshot({ path: join(folder, `sheet-${name}.png`), fullPage: true });
  await page.close();
}

for (const name of new Set(taken.map((each) => each.sheet))) {
  const of = taken.filter((each) => each.sheet === name);
  const wide = of[0].size.viewport.width >= of[0].size.viewport.height;
  const most = wide ? 6 : 10;
  for (let at = 0; at < of.length; at += most) await sheet(`${name}-${at / most + 1}`, of.slice(at, at + most), wide);
}
await browser.close();
await bridge.close();
console.log(`${taken.length} pictures in ${folder}`);
process.exit(0);
