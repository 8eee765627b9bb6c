// Files that were opened from this page, newest first; kept on this machine.
import { signal } from "@preact/signals";

const KEY = "profd.recent";
const MAX = 20;

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((uri): uri is string => typeof uri === "string").slice(0, MAX) : [];
  } catch {
    return [];
  }
}

export const recentFiles = signal<readonly string[]>(typeof localStorage === "undefined" ? [] : read());

export function remember(uri: string): void {
  // What was sent to the daemon is gone with the page.
  if (/(\/|%2F)uploads\1/i.test(uri)) return;
  const next = [uri, ...recentFiles.value.filter((other) => other !== uri)].slice(0, MAX);
  if (next.join("\n") === recentFiles.value.join("\n")) return;
  recentFiles.value = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage nothing is kept.
  }
}
