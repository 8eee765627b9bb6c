// Where no program is attached: how one comes here, and a recorded stream in its place.
import { useState } from "preact/hooks";
import { LiveAttachRequest, type LiveAttachResult } from "../../../../shared/ts/psp.js";
import { uriOf } from "../../app.js";
import { shown } from "../../draw/shown.js";
import { go } from "../../state/state.js";
import { Notes, Select } from "../../ui/bits.js";
import { useApp } from "../../ui/context.js";
import { copyText } from "../../ui/copy.js";
import { Icon } from "../../ui/icons.js";
import type { Feed } from "./feed.js";
import { LIVE } from "./names.js";

const REPLAY_SPEEDS = [
  { id: "1", text: "as it ran" },
  { id: "4", text: "4 x" },
  { id: "0", text: "at once" },
] as const;

/** How a program comes here. */
export function Attach({ feed, gone }: { feed: Feed; gone: string | undefined }) {
  const app = useApp();
  const [place, setPlace] = useState<LiveAttachResult | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [path, setPath] = useState("");
  const [speed, setSpeed] = useState<(typeof REPLAY_SPEEDS)[number]["id"]>("1");
  const replay = () => {
    if (path.trim() === "") return;
    const uri = uriOf(path.trim());
    app.client.request(LiveAttachRequest, { replay: uri, speed: Number(speed) }).then(
      async ({ session }) => {
        await feed.refresh();
        if (session !== undefined) app.update((state) => go(state, { profile: `${LIVE}${session.session}` }));
      },
      (error: unknown) => setProblem(app.explain(error)),
    );
  };
  const listen = () => {
    app.client.request(LiveAttachRequest, { listen: true }).then(
      (there) => {
        setPlace(there);
        void feed.refresh();
      },
      (error: unknown) => setProblem(app.explain(error)),
    );
  };
  return (
    <div class="view page">
      <div class="page-body narrow live-attach">
        <h1>{gone === undefined ? "No program is attached" : `${shown(gone)} is not known any more`}</h1>
        <p>
          A program that is started with an agent of profd tells which methods run. They stand here as a city: packages
          are districts, classes blocks, methods buildings, as high as the share of the last seconds that they ran
          themselves. Without an agent <code>profd live http://127.0.0.1:6060</code>, or{" "}
          <code>ws://127.0.0.1:9229</code>, a pipe or a file, shows the same by samples in a terminal, and editors here.
        </p>
        {place === undefined ? (
          <p>
            <button type="button" class="button primary" onClick={listen}>
              Wait for programs
            </button>
          </p>
        ) : (
          <ul class="live-places">
            {place.listening.map((one) => (
              <li key={one.address}>
                <p>{shown(one.text)}</p>
                {one.environment.map((line) => (
                  <p class="row" key={line}>
                    <code>{shown(line)}</code>
                    <button type="button" class="button quiet" onClick={() => copyText(app, line, "The setting")}>
                      <Icon name="copy" /> Copy
                    </button>
                  </p>
                ))}
              </li>
            ))}
          </ul>
        )}
        <h2>Or play a recorded stream</h2>
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            replay();
          }}
        >
          <input
            class="grow"
            type="text"
            aria-label="Path of a recorded stream"
            placeholder="/path/to/run.plive"
            spellcheck={false}
            value={path}
            onInput={(event) => setPath(event.currentTarget.value)}
          />
          <Select label="Speed" value={speed} choices={REPLAY_SPEEDS} onChange={setSpeed} />
          <button type="submit" class="button">
            Play
          </button>
        </form>
        {problem !== undefined && <Notes texts={[problem]} />}
      </div>
    </div>
  );
}
