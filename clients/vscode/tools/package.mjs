// package.mjs [--target PLATFORM] [--daemon PROFD] [--out FILE]: one VSIX in dist/, with the daemon of the platform or without
// any. Fails above the size that a download may have.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const MAX_BYTES = 12_000_000;

const { values } = parseArgs({
  options: { target: { type: "string" }, daemon: { type: "string" }, out: { type: "string" } },
});
const out = resolve(
  values.out ?? join(root, `dist/profd${values.target === undefined ? "" : `-${values.target}`}.vsix`),
);
if (values.daemon !== undefined && values.target === undefined) {
  console.error("a daemon is of one platform: --target linux-x64, linux-arm64, darwin-x64, darwin-arm64, ...");
  process.exit(2);
}

/** What is packed, put together apart from the sources. */
const stage = mkdtempSync(join(tmpdir(), "profd-vsix-"));
process.on("exit", () => rmSync(stage, { recursive: true, force: true }));

/** Every Linux has these; of the others a system has another version, or none. */
const OF_THE_SYSTEM = /^(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so/;
/** In the daemon itself. The distribution's names: it keeps their licences. */
const LINKED_IN = [
  "libboost-dev",
  "libbz2-dev",
  "libcli11-dev",
  "libdeflate-dev",
  "libexpat1-dev",
  "libexpected-dev",
  "liblz4-dev",
  "liblzma-dev",
  "libre2-dev",
  "libspdlog-dev",
  "libtomlplusplus-dev",
  "libxxhash-dev",
  "libzstd-dev",
  "nlohmann-json3-dev",
  "zlib1g-dev",
];

function fail(text) {
  console.error(text);
  process.exit(1);
}

function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) fail(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}

function addLicense(name) {
  const text = `/usr/share/doc/${name}/copyright`;
  if (!existsSync(text)) fail(`${text} is not there: what is passed on has its licences with it`);
  copyFileSync(realpathSync(text), join(stage, "licenses", `${name}.txt`));
}

/** Libraries that are not in every system's version travel along; the daemon looks for them in ../lib/profd first. */
function addLibraries(program) {
  mkdirSync(join(stage, "lib/profd"), { recursive: true });
  mkdirSync(join(stage, "licenses"), { recursive: true });
  for (const [, name, path] of run("ldd", program).matchAll(/^\s*(\S+) => (\S+)/gm)) {
    if (OF_THE_SYSTEM.test(name)) continue;
    if (!existsSync(path)) fail(`${program} needs ${name}, which is not there`);
    copyFileSync(realpathSync(path), join(stage, "lib/profd", name));
    addLicense(run("dpkg", "-S", `*/${basename(realpathSync(path))}`).split(":")[0]);
  }
  LINKED_IN.forEach(addLicense);
}

/** An editor shows the pictures of an installed extension's README only from the network, or in the text itself. */
function withPictures(markdown) {
  return markdown.replace(/!\[([^\]]*)\]\(([^):]+\.png)\)/g, (_, title, path) => {
    const picture = readFileSync(join(root, path)).toString("base64");
    return `![${title}](data:image/png;base64,${picture})`;
  });
}

for (const name of ["package.json", "package.nls.json", "CHANGELOG.md", ".vscodeignore", "dist", "media"])
  cpSync(join(root, name), join(stage, name), {
    recursive: true,
    filter: (source) => !source.endsWith(".vsix"),
  });
writeFileSync(join(stage, "README.md"), withPictures(readFileSync(join(root, "README.md"), "utf8")));
cpSync(join(root, "../../LICENSE"), join(stage, "LICENSE"));
if (values.daemon !== undefined) {
  mkdirSync(join(stage, "bin"));
  // What reads and fetches binaries and runs scripts for the daemon lies beside it.
  for (const [name, built] of [
    ["profd", values.daemon],
    ["profd-symbolize", join(dirname(values.daemon), "profd-symbolize")],
    ["profd-script", join(dirname(values.daemon), "profd-script")],
    ["profd-fetch", join(dirname(values.daemon), "profd-fetch")],
  ]) {
    const program = join(stage, "bin", name);
    cpSync(built, program, { dereference: true });
    chmodSync(program, 0o755);
    // Without its symbols, which nobody reads there.
    spawnSync("strip", [program], { stdio: "ignore" });
    if (values.target.startsWith("linux-")) addLibraries(built);
  }
}
const made = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/@vscode/vsce/vsce"),
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    // Relative ones are in the text by now; the check of a marketplace is not for a file that one installs.
    "--no-rewrite-relative-links",
    "--out",
    out,
    ...(values.target === undefined ? [] : ["--target", values.target]),
  ],
  { cwd: stage, stdio: ["ignore", "inherit", "inherit"] },
);
if (made.status !== 0) process.exit(1);
const { size } = statSync(out);
console.log(`${out}: ${(size / 1e6).toFixed(1)} MB`);
if (size > MAX_BYTES) {
  console.error(`${out}: more than ${MAX_BYTES / 1e6} MB`);
  process.exit(1);
}
