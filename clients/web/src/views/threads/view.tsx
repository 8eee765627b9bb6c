// Threads and labels: what the profile says of them, and a filter for one.
import { useState } from "preact/hooks";
import { addFilter } from "../../state/state.js";
import { Busy, Empty } from "../../ui/bits.js";
import { useApp, useProfile } from "../../ui/context.js";
import { Toolbar } from "../../ui/toolbar.js";

export function ThreadsView() {
  const app = useApp();
  const profile = useProfile();
  const [thread, setThread] = useState("");
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  if (profile === undefined) return <Busy text="Reading" />;
  const { threads, samples } = profile.summary;
  return (
    <div class="view">
      <Toolbar />
      <div class="view page">
        <div class="page-body">
          <h1>Threads and labels</h1>
          {threads.value === 0 && samples.value === 0 ? (
            <Empty title="Not recorded">
              <p>This profile has no samples with threads or labels, only totals.</p>
            </Empty>
          ) : (
            <div class="cards">
              <section class="card">
                <h2>Threads</h2>
                <p>{threads.value === 0 ? "Threads were not recorded." : `${threads.text} threads.`}</p>
                <form
                  class="row"
                  onSubmit={(event) => {
                    event.preventDefault();
                    if (thread !== "")
                      app.update((state) => addFilter(state, { op: "keep", by: "thread", pattern: thread }));
                  }}
                >
                  <input
                    type="text"
                    aria-label="Name or id of a thread"
                    placeholder="Name or id of a thread"
                    value={thread}
                    onInput={(event) => setThread(event.currentTarget.value)}
                  />
                  <button type="submit" class="button">
                    Keep it
                  </button>
                </form>
              </section>
              <section class="card">
                <h2>Labels</h2>
                <form
                  class="row"
                  onSubmit={(event) => {
                    event.preventDefault();
                    if (key !== "" && value !== "")
                      app.update((state) => addFilter(state, { op: "keep", by: "label", key, pattern: value }));
                  }}
                >
                  <input
                    type="text"
                    aria-label="Key of a label"
                    placeholder="key"
                    value={key}
                    onInput={(event) => setKey(event.currentTarget.value)}
                  />
                  <input
                    type="text"
                    aria-label="Value of the label"
                    placeholder="value"
                    value={value}
                    onInput={(event) => setValue(event.currentTarget.value)}
                  />
                  <button type="submit" class="button">
                    Keep it
                  </button>
                </form>
              </section>
            </div>
          )}
        </div>
      </div>
    </div>
  );
}
