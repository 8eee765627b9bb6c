// What somebody has made of a city: what is held, chosen and looked for, and from where it is seen. It outlives the view, so
// that who comes back from a profile finds it as it was.
import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { App } from "../../app.js";
import { useApp } from "../../ui/context.js";
import type { Kind, SeenFrom } from "./controller.js";
import { Feed } from "./feed.js";

export type Side = "hot" | "threads";

export class Watched {
  readonly kind = signal<Kind>("city");
  /** Why the map stands in place of the city. */
  readonly why = signal<{ readonly text: string; readonly again: boolean } | undefined>(undefined);
  /** The city is wanted, however slow. */
  insists = false;
  readonly side = signal<Side>("hot");
  readonly pair = signal(false);
  readonly search = signal("");
  /** A method by its number, and by that in the version before. */
  readonly chosen = signal<{ readonly id: number; readonly before: number } | undefined>(undefined);
  readonly camera: { current: SeenFrom | undefined } = { current: undefined };

  constructor(readonly feed: Feed) {}

  watch(session: string | undefined): void {
    if (session === this.feed.session.peek()) return;
    this.chosen.value = undefined;
    this.camera.current = undefined;
    this.feed.choose(session);
  }
}

interface Kept {
  epoch: number;
  watched: Watched | undefined;
}

export const newWatched = (): Kept => ({ epoch: 0, watched: undefined });

export const WatchedContext = createContext<Kept>(newWatched());

const feedOf = (app: App) =>
  new Feed(
    (type, params, signal) => app.client.request(type, params, signal),
    (error) => app.explain(error),
  );

/** Of this connection: another daemon has other sessions. */
export function useWatched(): Watched {
  const app = useApp();
  const kept = useContext(WatchedContext);
  const epoch = app.epoch.value;
  if (kept.watched === undefined || kept.epoch !== epoch) {
    kept.epoch = epoch;
    kept.watched = new Watched(feedOf(app));
  }
  return kept.watched;
}
