// Which of our two editors shows a file: that of the names which package.json lists, or that of any other file.
import { EDITORS } from "./ids.js";

export interface EditorManifest {
  readonly contributes: {
    readonly customEditors: readonly {
      readonly viewType: string;
      readonly selector: readonly { readonly filenamePattern: string }[];
    }[];
  };
}

export function isOurs(viewType: string): boolean {
  return EDITORS.some((ours) => ours === viewType);
}

interface Input {
  readonly viewType?: string;
  readonly uri?: { readonly scheme: string; toString(): string };
}

/** The URIs of profiles that tabs show. */
export function pagesOf(tabs: readonly { readonly input: unknown }[]): readonly string[] {
  return tabs
    .map(({ input }) => (input ?? {}) as Input)
    .flatMap(({ viewType = "", uri }) => (isOurs(viewType) && uri?.scheme === "file" ? [uri.toString()] : []));
}

/** An editor that is asked for a file which is none of its own shows an id for its name. */
export function editorFor({ contributes }: EditorManifest, path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const own = contributes.customEditors.find(({ viewType }) => viewType === EDITORS[0])?.selector ?? [];
  return own.some(({ filenamePattern }) => matches(filenamePattern, name)) ? EDITORS[0] : EDITORS[1];
}

/** `*` is any text; nothing else in a pattern of ours is special. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i").test(name);
}
