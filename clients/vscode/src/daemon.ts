// Which `profd` is used: the one of the setting, the one on PATH, the one that came with the extension.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { homedir } from "node:os";

export interface Daemon {
  readonly program: string;
  readonly from: "setting" | "PATH" | "extension";
}

export interface Look {
  readonly setting: string;
  readonly path: string;
  readonly bundled: string;
  readonly isProgram: (path: string) => boolean;
}

/** What is set is meant: where it is no program, nothing else is taken in its place. */
export function findDaemon(look: Look): Daemon | undefined {
  if (look.setting !== "") {
    const program = look.setting.replace(/^~(?=\/)/, homedir());
    if (isAbsolute(program)) return look.isProgram(program) ? { program, from: "setting" } : undefined;
    return onPath(program, look, "setting");
  }
  const found = onPath("profd", look, "PATH");
  if (found !== undefined) return found;
  return look.isProgram(look.bundled) ? { program: look.bundled, from: "extension" } : undefined;
}

function onPath(name: string, look: Look, from: Daemon["from"]): Daemon | undefined {
  for (const folder of look.path.split(delimiter)) {
    const program = join(folder, name);
    if (isAbsolute(folder) && look.isProgram(program)) return { program, from };
  }
  return undefined;
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A sentence when the extension and the daemon are too far apart, with which of the two to update. */
export type Skew = "daemon is older" | "extension is older" | undefined;

export function skewOf(extension: string, daemon: string | undefined): Skew {
  const [ours, theirs] = [parts(extension), parts(daemon ?? "")];
  if (ours === undefined || theirs === undefined) return undefined;
  const apart = ours.major === theirs.major ? ours.minor - theirs.minor : (ours.major - theirs.major) * Infinity;
  if (apart > 1) return "daemon is older";
  return apart < -1 ? "extension is older" : undefined;
}

function parts(version: string): { major: number; minor: number } | undefined {
  const found = /^(\d+)\.(\d+)/.exec(version);
  return found === null ? undefined : { major: Number(found[1]), minor: Number(found[2]) };
}
