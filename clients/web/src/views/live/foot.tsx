// Below the picture: the time that is looked at, what it is of, and what was lost.
import { LiveState, type LiveSession } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Notes, Select } from "../../ui/bits.js";
import type { Feed } from "./feed.js";
import { Strip } from "./strip.js";

const SPEEDS = ["0.25", "0.5", "1", "2", "4", "10"] as const;

export function LiveFoot({
  feed,
  session,
  time,
  length,
  canPause,
  onHold,
  onMark,
  onProbes,
}: {
  feed: Feed;
  session: LiveSession;
  time: number;
  /** Of a window. */
  length: number;
  canPause: boolean;
  onHold: () => void;
  onMark: () => void;
  onProbes: (on: boolean) => void;
}) {
  const at = feed.at.value;
  const frame = feed.frame.value;
  const window_ = feed.window.value;
  const estimate = at === undefined ? frame?.estimate : window_?.estimate;
  return (
    <footer class="live-foot">
      <div class="row">
        <button type="button" class="button" aria-pressed={at !== undefined} onClick={onHold} title="Space">
          {at === undefined ? "Hold" : "Live"}
        </button>
        {at !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => (feed.playing.value ? feed.seek(time) : feed.play())}
            title="Lets the time that is looked at go on"
          >
            {feed.playing.value ? "Stop" : "Play"}
          </button>
        )}
        {at !== undefined && (
          <Select
            label="Speed"
            value={String(feed.speed.value) as (typeof SPEEDS)[number]}
            choices={SPEEDS.map((id) => ({ id, text: `${id} x` }))}
            onChange={(id) => feed.setSpeed(Number(id))}
          />
        )}
        <button type="button" class="button quiet" onClick={onMark} title="Gives this moment a name (M)">
          Mark
        </button>
        {canPause && (
          <button
            type="button"
            class="button quiet"
            onClick={() => onProbes(session.state === LiveState.paused)}
            title="Probes of the program tell nothing as long as they are off"
          >
            {session.state === LiveState.paused ? "Probes on" : "Probes off"}
          </button>
        )}
      </div>
      <Strip
        window={window_}
        end={frame?.time ?? session.time}
        length={length}
        at={time}
        text={at === undefined ? (frame?.timeText ?? "") : (window_?.windowText ?? "")}
        onSeek={(time) => feed.seek(time)}
      />
      <p class="live-says">
        {at === undefined ? (
          <>
            {shown(frame?.timeText ?? "")}, heights are of {shown(frame?.windowText ?? "the window")}
            {frame !== undefined && frame.probeText !== "" && <> · {shown(frame.probeText)}</>}
          </>
        ) : (
          <>{shown(window_?.windowText ?? "")}</>
        )}
        {estimate !== undefined ? (
          <>
            {" · "}
            {shown(estimate.text)}; {shown(estimate.source)}
          </>
        ) : (
          frame !== undefined && <> · {shown(frame.losses.text)}</>
        )}
        {frame?.lagText !== undefined && (
          <b>
            {" · "}
            {shown(frame.lagText)}
          </b>
        )}
        {session.error !== undefined && <b> · {shown(session.error)}</b>}
      </p>
      {feed.problem.value !== undefined && <Notes texts={[feed.problem.value]} />}
    </footer>
  );
}
