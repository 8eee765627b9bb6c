// Which of our two editors shows a file: that of the names which package.json lists, or that of any other file.
import { EDITORS, PAGE_SCHEME } from "./ids.js";

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

interface PageUri {
  readonly scheme: string;
  readonly query: string;
  toString(): string;
}
interface Input {
  readonly viewType?: string;
  readonly uri?: PageUri;
}

/** The URI of the profile that a page is of; undefined: the daemon cannot read what is there. */
export function profileOfPage(uri: PageUri): string | undefined {
  if (uri.scheme === PAGE_SCHEME) return uri.query;
  return uri.scheme === "file" ? uri.toString() : undefined;
}

/** The URI of the profile that a tab shows; undefined: it shows none. */
export function profileOfTab({ input }: { readonly input: unknown }): string | undefined {
  const { viewType = "", uri } = (input ?? {}) as Input;
  return isOurs(viewType) && uri !== undefined ? profileOfPage(uri) : undefined;
}

/** The URIs of profiles that tabs show. */
export function pagesOf(tabs: readonly { readonly input: unknown }[]): readonly string[] {
  return tabs.map(profileOfTab).filter((uri) => uri !== undefined);
}

/** The parts of the URI of a profile's page, where it is none of a file. */
export function partsOfPage(profile: string, name: string): { scheme: string; path: string; query: string } {
  return { scheme: PAGE_SCHEME, path: `/${name.replaceAll("/", "\u2215")}`, query: profile };
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
