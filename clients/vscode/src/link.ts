// vscode://profd.profd/open?file=PATH&function=NAME: what a link may ask for. Pure.

export interface Link {
  readonly path: string;
  readonly function: string | undefined;
}

/** What a link asks for, or a word on what is wrong with it. */
export function parseLink(path: string, query: string): Link | "unknown" | "no file" {
  if (path !== "/open") return "unknown";
  const values = new URLSearchParams(query);
  const file = values.get("file") ?? "";
  if (!file.startsWith("/") || file.includes("\0")) return "no file";
  return { path: file, function: values.get("function") ?? undefined };
}

/** Whether a path lies in one of the folders, once its dots are followed. */
export function isInside(path: string, folders: readonly string[]): boolean {
  const normal = normalize(path);
  return folders.some((folder) => normal.startsWith(folder.endsWith("/") ? folder : folder + "/"));
}

function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return "/" + parts.join("/");
}
