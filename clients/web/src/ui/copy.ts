// What leaves the page: to the clipboard, or as a file.
import type { App } from "../app.js";

export function copyText(app: App, text: string, what: string, more = ""): void {
  navigator.clipboard.writeText(text).then(
    () => app.say(`${what} was copied${more}`),
    () => app.say(`${what} could not be copied: the browser did not allow it`, "warning"),
  );
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const saveText = (name: string, text: string, type: string) => saveBlob(name, new Blob([text], { type }));

/** A name without what file systems and shells take for something else. */
export function fileName(name: string): string {
  // eslint-disable-next-line no-control-regex
  return name.replace(/[\u0000-\u001f\\/:*?"<>|\u202a-\u202e\u2066-\u2069]+/g, "_").slice(0, 120) || "profile";
}
