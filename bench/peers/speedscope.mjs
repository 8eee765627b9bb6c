// Runs speedscope's importer on one file, without a browser: node speedscope.mjs BUNDLE FILE
//
// The npm package ships the web application as one script. Its import functions keep their names in a table that the
// application awaits; this cuts the script off just after that table and hands it out. Prints one JSON object.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [bundle, file] = process.argv.slice(2);
const source = fs.readFileSync(bundle, "utf8");
const use = /\(await ([\w$]+)\)\.importProfilesFromArrayBuffer\(/.exec(source);
const start = use && source.indexOf(`${use[1]}.then(()=>{})`);
if (!use || start < 0) throw new Error("this speedscope release is built in another way; the loader must be adapted");

// What the application touches while loading, before anything is drawn.
const anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : anything),
  set: () => true, apply: () => anything, construct: () => anything,
});
Object.assign(globalThis, { window: globalThis, document: anything, localStorage: anything, HTMLElement: class {} });
Object.defineProperty(globalThis, "location", { value: { hash: "", protocol: "file:", href: "file:///" }, configurable: true });
console.log = () => {};
vm.runInThisContext(`${source.slice(0, start)}globalThis.speedscopeImporter=${use[1]};})();`);

const importer = await globalThis.speedscopeImporter;
const begin = process.hrtime.bigint();
const bytes = fs.readFileSync(file);
const group = await importer.importProfilesFromArrayBuffer(path.basename(file), bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
if (!group) throw new Error("speedscope did not recognise the file");
const total = group.profiles.reduce((sum, profile) => sum + profile.getTotalWeight(), 0);
process.stdout.write(`${JSON.stringify({ import_s: Number(process.hrtime.bigint() - begin) / 1e9, profiles: group.profiles.length, total })}\n`);
