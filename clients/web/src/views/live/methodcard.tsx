// The method that is chosen: what it took, and where one goes from it.
import { useEffect, useState } from "preact/hooks";
import { LiveMethodRequest, type LiveMethodResult } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { Name } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { Icon } from "../../ui/icons.js";
import { Sparkline } from "../../ui/sparkline.js";
import { changeText, FLAG, shareText, signatureOf, wholeName } from "./city.js";
import type { Feed } from "./feed.js";
import { marksOf } from "./hotlist.js";

/** A method's own, as the daemon says it; asked again as long as it is shown. */
function useMethod(session: string, method: number | undefined, still: boolean): LiveMethodResult | undefined {
  const app = useApp();
  const [value, setValue] = useState<LiveMethodResult | undefined>(undefined);
  useEffect(() => {
    if (method === undefined) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      app.client.request(LiveMethodRequest, { session, method }, controller.signal).then(
        (answer) => {
          setValue(answer);
          if (!still) timer = setTimeout(ask, 1000);
        },
        () => undefined,
      );
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [session, method, still]);
  return value?.method === method && value?.session === session ? value : undefined;
}

export interface Deeds {
  readonly source: () => void;
  readonly callers: () => void;
  readonly flame: () => void;
  readonly demote: (() => void) | undefined;
  readonly promote: (() => void) | undefined;
  readonly find: () => void;
}

export function MethodCard({
  feed,
  session,
  chosen,
  deeds,
  onClose,
}: {
  feed: Feed;
  session: string;
  chosen: number;
  deeds: Deeds;
  onClose: () => void;
}) {
  const city = feed.city.value!;
  const still = feed.at.value !== undefined;
  const id = city.plots.id[chosen]!;
  const against = feed.against.value;
  // What is gone is known to the version before alone.
  const gone = id === 0 && against.kind === "session";
  const method = useMethod(gone ? against.session : session, gone ? city.plots.before[chosen] : id, still);
  const height = feed.standing.height[chosen] ?? 0;
  const flags = feed.standing.flags[chosen] ?? 0;
  const compared = against.kind !== "none";
  const sampled = feed.frame.value?.estimate !== undefined;
  const signature = signatureOf(city, chosen);
  return (
    <section class="live-card" aria-label="Chosen method">
      <header>
        <h2>
          <Name text={wholeName(city, chosen)} />
        </h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Let go of it"
          title="Let go of it (Escape)"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <p class="live-signature">
        <Name text={signature} />
      </p>
      <p>
        <b>
          {!sampled
            ? shareText(height)
            : `about ${still || method === undefined ? shareText(height) : method.elevationText}`}
        </b>{" "}
        of the window, Thread Num {feed.standing.threads[chosen] ?? 0}
        {!still && method !== undefined && method.calls > 0 && (
          <>
            , {method.calls.toLocaleString("en")} {sampled ? "samples" : "calls"}
          </>
        )}
        {marksOf(flags, sampled).map((mark) => (
          <span class="tag" key={mark}>
            {mark}
          </span>
        ))}
      </p>
      {compared && <p>{changeText(feed.standing.before[chosen] ?? 0, height)} against what it is compared with</p>}
      {feed.versions.value?.added[chosen] === 1 && <p>[A] The version before does not have it.</p>}
      {gone && <p>[D] Only the version before has it.</p>}
      {method !== undefined && (
        <p class="muted">
          {shown(method.total)}
          {method.file !== undefined && (
            <>
              {" · "}
              <Name text={method.line === undefined ? method.file : `${method.file}:${method.line}`} />
            </>
          )}
        </p>
      )}
      {method !== undefined && method.history.height.length > 1 && (
        <div class="live-history">
          <Sparkline values={method.history.height} />
          <span class="muted">since the session began</span>
        </div>
      )}
      <div class="row">
        <button type="button" class="button" onClick={deeds.source} title="Its source (g)">
          Source
        </button>
        <button type="button" class="button" onClick={deeds.callers} title="Who calls it, and whom it calls (c)">
          Callers
        </button>
        <button type="button" class="button" onClick={deeds.flame} title="Flame graph of the session (f)">
          Flame graph
        </button>
        <button type="button" class="button quiet" onClick={deeds.find} title="Where it stands (Enter)">
          Show
        </button>
        {deeds.demote !== undefined && (flags & FLAG.demoted) === 0 && (
          <button
            type="button"
            class="button quiet"
            onClick={deeds.demote}
            title="Its probes are taken out: its time goes to its callers"
          >
            No probes
          </button>
        )}
        {deeds.promote !== undefined && (flags & FLAG.demoted) !== 0 && (
          <button type="button" class="button quiet" onClick={deeds.promote} title="It gets its probes back">
            Probes again
          </button>
        )}
      </div>
    </section>
  );
}
