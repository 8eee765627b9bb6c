// Two windows of time of one profile, compared: the one that is kept is put aside, another one is chosen, and what became
// of the first in the second is a diff.
import { DiffScale, ProfileDiffRequest } from "../../../shared/ts/psp.js";
import type { App } from "../app.js";
import { isDiff } from "../state/compared.js";
import { filtersOf } from "../state/place.js";
import { filterText } from "../state/spec.js";
import { go } from "../state/state.js";
import { keepWindow, sideFilter, windowOf, type Span } from "../state/windows.js";
import { useApp, useProfile } from "./context.js";

/** Opens the diff of what two windows keep; the first is the one before. */
function compareWindows(app: App, before: ReturnType<typeof windowOf>, after: ReturnType<typeof windowOf>): void {
  const profile = app.profile.peek();
  if (profile === undefined) return;
  const filters = filtersOf(app.place.peek());
  const side = (window: typeof before) => [
    {
      id: filterText(window),
      name: filterText(window),
      part: { profile: profile.handle, filter: sideFilter(filters, window) },
    },
  ];
  app.firstWindow.value = undefined;
  void app.compare({ before: side(before), after: side(after), scale: DiffScale.automatic }).then(() => {
    // A diff has no time of its own, and each side has its window already.
    if (isDiff(app.place.peek().profile))
      app.update((state) => go(keepWindow(state, undefined), { view: "flame" }), false);
  });
}

export function WindowCompare({ kept }: { kept: Span | undefined }) {
  const app = useApp();
  const profile = useProfile();
  if (profile === undefined || !app.can(ProfileDiffRequest.method)) return null;
  const first = app.firstWindow.value;
  const own = first?.profile === profile.handle ? first.window : undefined;
  if (own === undefined)
    return (
      <button
        type="button"
        disabled={kept === undefined}
        title="Puts this window aside; then choose the one that it is compared with"
        onClick={() => {
          if (kept === undefined) return;
          app.firstWindow.value = { profile: profile.handle, window: kept };
          app.spoken.value = "Now choose the window that this one is compared with.";
        }}
      >
        Compare with another window
      </button>
    );
  const same = kept === undefined || (kept.from === own.from && kept.to === own.to);
  return (
    <span class="window-compare" role="group" aria-label="Compare windows">
      <span>
        {filterText(windowOf(own))} with {same ? "the window that you choose next, or" : "this one, or"}
      </span>
      {!same && (
        <button type="button" class="primary" onClick={() => compareWindows(app, windowOf(own), windowOf(kept))}>
          Compare
        </button>
      )}
      <button
        type="button"
        title="What runs at all other times is before, what runs in the window after"
        onClick={() => compareWindows(app, { ...windowOf(own), op: "drop" }, windowOf(own))}
      >
        the rest
      </button>
      <button type="button" onClick={() => (app.firstWindow.value = undefined)}>
        Cancel
      </button>
    </span>
  );
}
