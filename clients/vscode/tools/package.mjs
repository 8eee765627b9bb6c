// package.mjs [--target PLATFORM] [--daemon PROFD] [--out FILE]: one VSIX in dist/, with the daemon of the platform or without
// any. Fails above the size that a download may have.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const MAX_BYTES = 10_000_000;

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

rmSync(join(root, "bin"), { recursive: true, force: true });
if (values.daemon !== undefined) {
  mkdirSync(join(root, "bin"));
  cpSync(values.daemon, join(root, "bin/profd"), { dereference: true });
  chmodSync(join(root, "bin/profd"), 0o755);
  // Without its symbols, which nobody reads there.
  spawnSync("strip", [join(root, "bin/profd")], { stdio: "ignore" });
}
cpSync(join(root, "../../LICENSE"), join(root, "LICENSE"));
const made = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/@vscode/vsce/vsce"),
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    "--out",
    out,
    ...(values.target === undefined ? [] : ["--target", values.target]),
  ],
  { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
);
rmSync(join(root, "bin"), { recursive: true, force: true });
if (made.status !== 0) process.exit(1);
const { size } = statSync(out);
console.log(`${out}: ${(size / 1e6).toFixed(1)} MB`);
if (size > MAX_BYTES) {
  console.error(`${out}: more than ${MAX_BYTES / 1e6} MB`);
  process.exit(1);
}
