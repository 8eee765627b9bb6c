// Running programs: which of them is looked at.
import { useEffect } from "preact/hooks";
import { LiveListRequest, LiveState } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Busy, Empty } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { Attach } from "./attach.js";
import { heldOf, useHeld } from "./held.js";
import { sessionOf } from "./names.js";
import { Session } from "./session.js";
import { useWatched } from "./watched.js";

export function LiveView() {
  const app = useApp();
  const known = app.can(LiveListRequest.method);
  const open = app.connection.value.state === "open";
  const watched = useWatched();
  const { feed } = watched;
  useEffect(() => {
    if (!open || !known) return;
    const seen = () => feed.look(!document.hidden);
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      feed.look(false);
    };
  }, [feed, open, known]);
  const sessions = feed.sessions.value;
  const place = app.place.value;
  const held = feed.at.value === undefined ? undefined : feed.session.value;
  const wanted = sessionOf(place.profile) ?? heldOf(place)?.session ?? held;
  const session =
    wanted ?? sessions?.filter(({ state }) => state !== LiveState.ended).at(-1)?.session ?? sessions?.at(-1)?.session;
  useEffect(() => watched.watch(session), [watched, session]);
  useHeld(feed, session);

  if (open && !known)
    return (
      <Empty title="Not known here">
        <p>This daemon is older than the page and watches no running programs.</p>
      </Empty>
    );
  if (sessions === undefined)
    return feed.problem.value === undefined ? (
      <Busy text="Asking for running programs" />
    ) : (
      <Empty title="Running programs cannot be listed">
        <p>{shown(feed.problem.value)}</p>
      </Empty>
    );
  const now = sessions.find((one) => one.session === session);
  if (session === undefined || now === undefined) return <Attach feed={feed} gone={wanted} />;
  return <Session watched={watched} session={now} sessions={sessions} />;
}
