// Threads and labels: how much of the profile each holds; one that is chosen is a filter.
import { ProfileThreadsRequest, type SampleGroup } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { parseClause, filterText } from "../../state/spec.js";
import { addFilter, removeFilter } from "../../state/state.js";
import { Busy, Empty, Name, Share } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import { Toolbar } from "../../ui/toolbar.js";

export function ThreadsView() {
  const app = useApp();
  const profile = useProfile();
  const place = app.place.value;
  const known = app.can(ProfileThreadsRequest.method);
  const answer = useAnswer(
    ProfileThreadsRequest,
    profile === undefined || !known ? undefined : { profile: profile.handle, metric: place.metric || profile.metric },
  );
  const groups = answer.value;
  return (
    <div class="view">
      <Toolbar />
      <div class="view page">
        <div class="page-body">
          <h1>Threads and labels</h1>
          {!known ? (
            <Empty title="Not known here">
              <p>
                This daemon is older than the page and does not list threads. A filter by thread works all the same.
              </p>
            </Empty>
          ) : answer.error !== undefined ? (
            <Empty title="The list cannot be shown">
              <p>{answer.error}</p>
            </Empty>
          ) : groups === undefined ? (
            <Busy text="Counting" />
          ) : groups.threads === undefined && groups.labels.length === 0 ? (
            <Empty title="Not recorded">
              <p>This profile does not say which thread a sample was taken in, and its samples have no labels.</p>
            </Empty>
          ) : (
            <>
              <p class="muted">
                Shares are of the whole profile, {groups.total.text}. Choose one to keep only its samples, in every
                view.
              </p>
              <div class="cards">
                {groups.threads !== undefined && (
                  <Group title="Threads" group={groups.threads} none="in no known thread" />
                )}
                {groups.labels.map((group) => (
                  <Group key={group.key} title={shown(group.key)} group={group} none="without it" />
                ))}
              </div>
              {(groups.keysLeft ?? 0) > 0 && <p class="muted">{groups.keysLeft} more labels are not listed.</p>}
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Group({ title, group, none }: { title: string; group: SampleGroup; none: string }) {
  const app = useApp();
  const { chips } = app.place.value;
  const top = Math.max(1e-12, ...group.rows.map((row) => Math.abs(row.amount.share ?? 0)));
  return (
    <section class="card">
      <h2>{title}</h2>
      <ol class="hot-list">
        {group.rows.map((row) => {
          const at = chips.findIndex((chip) => chip.on && filterText(chip.filter) === row.filter);
          return (
            <li key={row.filter}>
              <button
                type="button"
                aria-pressed={at >= 0}
                title={shown(row.filter)}
                onClick={() =>
                  app.update((state) => {
                    if (at >= 0) return removeFilter(state, at);
                    const clause = parseClause(row.filter);
                    return "filter" in clause ? addFilter(state, clause.filter) : state;
                  })
                }
              >
                <Share text={row.amount.shareText ?? ""} part={Math.abs(row.amount.share ?? 0) / top} />
                <span class="hot-value">{row.amount.text}</span>
                <Name text={row.name} />
              </button>
            </li>
          );
        })}
      </ol>
      {group.left !== undefined && <p class="muted">{shown(group.left.text)}</p>}
      {group.without.value !== 0 && (
        <p class="muted">
          {group.without.text} ({group.without.shareText}) {none}
        </p>
      )}
    </section>
  );
}
