// Manners of a page in an editor's web view.
import type { App } from "../app.js";
import type { WebviewApi } from "../rpc/transport.js";
import type { Chip } from "../state/place.js";
import { filterText, parseClause } from "../state/spec.js";
import { addFilter, removeFilter, type State } from "../state/state.js";
import { isWindow } from "../state/windows.js";
import { runKey } from "./keys.js";

const MAIN = "main .stage-tree, main [role=grid], main [role=treegrid]";

export function joinEditor(): void {
  // Keys that the editor keeps to itself come as its commands.
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const data = event.data as { type?: unknown; key?: unknown } | null;
    if (data?.type === "key" && typeof data.key === "string") runKey(data.key);
  });
  // Keys are heard wherever the focus is in the page. A screen reader needs it at the picture, as at the text of a file.
  const settle = () => {
    if (!document.body.classList.contains("vscode-using-screen-reader")) return;
    if (document.activeElement === document.body && document.hasFocus())
      document.querySelector<HTMLElement>(MAIN)?.focus({ preventScroll: true });
  };
  window.addEventListener("focus", settle);
  new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
}

const windowOf = (chips: readonly Chip[]): string => {
  const chip = chips.find(({ filter, on }) => on && isWindow(filter));
  return chip === undefined ? "" : filterText(chip.filter);
};

function keepWindow(state: State, text: string): State {
  let next = state;
  for (const [i, { filter }] of [...state.place.chips.entries()].reverse())
    if (isWindow(filter)) next = removeFilter(next, i);
  const clause = text === "" ? undefined : parseClause(text);
  return clause !== undefined && "filter" in clause ? addFilter(next, clause.filter) : next;
}

/** The window of time that is kept here is a filter of the editor's code and lists, and theirs is one here. */
export function shareWindow(app: App, api: WebviewApi): void {
  let told = { uri: app.place.value.profile, clause: windowOf(app.place.value.chips) };
  app.place.subscribe(({ profile: uri, chips }) => {
    const before = told;
    told = { uri, clause: windowOf(chips) };
    // Another profile begins with its own.
    if (uri !== undefined && uri === before.uri && told.clause !== before.clause)
      api.postMessage({ type: "window", ...told });
  });
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const data = event.data as { type?: unknown; uri?: unknown; clause?: unknown } | null;
    if (data?.type !== "window" || typeof data.clause !== "string" || data.uri !== app.place.value.profile) return;
    const { clause } = data;
    if (clause === windowOf(app.place.value.chips)) return;
    told = { ...told, clause };
    app.update((state) => keepWindow(state, clause));
  });
}
