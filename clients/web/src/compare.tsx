// Choosing what is compared: profiles before and after, several on a side as runs of it.
import { useState } from "preact/hooks";
import { DiffScale, ProfileAggregateRequest, ProfileDiffRequest, UploadBeginRequest } from "../../shared/ts/psp.js";
import { comparableOf, comparablesOf, pathOfUri, uriOf, type App, type Comparable, type Comparison } from "./app.js";
import { recentFiles } from "./recent.js";
import { filtersOfSides, isAggregate, isDiff, scaleOf, sidesOf } from "./state/compared.js";
import { Name, Select, type Choice } from "./ui/bits.js";
import { useApp } from "./ui/context.js";
import { Icon } from "./ui/icons.js";
import { Dialog } from "./ui/menu.js";
import { sendAll } from "./upload.js";

const SCALES: readonly (Choice<string> & { title: string })[] = [
  {
    id: DiffScale.automatic,
    text: "automatic",
    title: "As measured; where the durations differ by more than 2 %, so that both sides are as long.",
  },
  { id: DiffScale.raw, text: "as measured", title: "Values are as measured." },
  {
    id: DiffScale.duration,
    text: "by duration",
    title: "Values before are multiplied so that both sides are as long.",
  },
  {
    id: DiffScale.totals,
    text: "by totals",
    title:
      "Values before are multiplied so that both sides come to as much: what grew on its own makes all else look faster.",
  },
  {
    id: DiffScale.bulk,
    text: "by most functions",
    title: "Values before are multiplied so that half of the functions rose and half fell.",
  },
];

const canPutTogether = (app: App) => app.can(ProfileAggregateRequest.method);
export const canCompare = (app: App) => app.can(ProfileDiffRequest.method);

/** Asks what is to be compared: with the profile that is shown; of a diff others, or otherwise scaled. */
export async function startComparing(app: App): Promise<void> {
  const all = comparablesOf(await app.list().catch(() => app.listed.peek()));
  const { profile, member, view } = app.place.peek();
  if (profile !== undefined && isDiff(profile)) {
    const { before, after } = sidesOf(profile);
    const filters = filtersOfSides(profile);
    const part = (of: readonly string[]) => (uri: string, at: number) => {
      const one = comparableOf({ uri });
      const known = all.find(({ id }) => id === one.id) ?? one;
      const filter = of[at] ?? "";
      if (filter === "") return known;
      return {
        id: `${known.id} ${filter}`,
        name: `${known.name} (${filter})`,
        part: { ...known.part, filter },
      };
    };
    app.comparing.value = {
      before: before.map(part(filters.before)),
      after: after.map(part(filters.after)),
      scale: scaleOf(profile),
    };
    return;
  }
  const own = view === "open" ? undefined : all.find(({ id }) => id === `${profile ?? ""}#${member}`);
  const [before, after, ...more] = all;
  // Of two there is no choice; else what is looked at is what became of something.
  app.comparing.value =
    after !== undefined && more.length === 0
      ? { before: [before!], after: [after], scale: DiffScale.automatic }
      : { before: [], after: own === undefined ? [] : [own], scale: DiffScale.automatic };
}

type Side = "before" | "after";

const without = (side: readonly Comparable[], id: string) => side.filter((other) => other.id !== id);

/** Ticked on one side it is not on the other. */
export function ticked(comparison: Comparison, side: Side, profile: Comparable, on: boolean): Comparison {
  const before = without(comparison.before, profile.id);
  const after = without(comparison.after, profile.id);
  if (!on) return { ...comparison, [side]: side === "before" ? before : after };
  return side === "before"
    ? { ...comparison, before: [...before, profile], after }
    : { ...comparison, before, after: [...after, profile] };
}

export const turned = ({ before, after, scale }: Comparison): Comparison => ({ before: after, after: before, scale });

export function CompareDialog() {
  const app = useApp();
  const comparison = app.comparing.value;
  const [named, setNamed] = useState<readonly Comparable[]>([]);
  if (comparison === undefined) return null;
  const listed = comparablesOf(app.listed.value);
  const isNew = (known: readonly Comparable[]) => (one: Comparable) => !known.some(({ id }) => id === one.id);
  // What was chosen once stays in the lists, whatever becomes of it.
  const recent = recentFiles.value
    .filter((uri) => !isDiff(uri) && !isAggregate(uri))
    .map((uri) => comparableOf({ uri }))
    .filter(isNew(listed))
    .slice(0, 6);
  const chosen = [...comparison.before, ...comparison.after];
  const known = [...listed, ...recent];
  const all = [...known, ...[...named, ...chosen].filter(isNew(known))].filter(
    (one, at, every) => every.findIndex(({ id }) => id === one.id) === at,
  );
  const notes = new Map(
    app.listed.value.map((entry) => [
      `${entry.uri}#${entry.member?.number ?? 1}`,
      `${entry.total === undefined ? "" : `${entry.total.text} ${entry.metric ?? ""} · `}${entry.format}`,
    ]),
  );
  const noteOf = ({ id, part }: Comparable) => notes.get(id) ?? (part.uri === undefined ? "" : pathOfUri(part.uri));
  const put = (next: Comparison) => (app.comparing.value = next);
  const add = (side: Side, profiles: readonly Comparable[]) => {
    setNamed((before) => [...before, ...profiles]);
    put(profiles.reduce((next, profile) => ticked(next, side, profile, true), app.comparing.peek() ?? comparison));
  };
  const column = (side: Side) => (
    <CompareColumn
      side={side}
      profiles={all}
      noteOf={noteOf}
      chosen={comparison[side]}
      onTick={(profile, on) => put(ticked(comparison, side, profile, on))}
      onAdd={(profiles) => add(side, profiles)}
    />
  );
  const ready = comparison.before.length > 0 && comparison.after.length > 0;
  // Those of one side alone are compared with nothing: they can be one profile.
  const together = ready || chosen.length < 2 || !canPutTogether(app) ? undefined : chosen;
  const close = () => (app.comparing.value = undefined);
  return (
    <Dialog title="Compare profiles" onClose={close} wide>
      <div class="compare">
        {column("before")}
        <button
          type="button"
          class="button compare-swap"
          aria-label="Swap before and after"
          title="Swap before and after"
          onClick={() => put(turned(comparison))}
        >
          <Icon name="swap" />
        </button>
        {column("after")}
      </div>
      <div class="row compare-scale">
        <Select
          label="Scale"
          value={comparison.scale}
          choices={SCALES}
          onChange={(scale) => put({ ...comparison, scale })}
        />
        <span class="muted">{SCALES.find(({ id }) => id === comparison.scale)?.title}</span>
      </div>
      <div class="row compare-deeds">
        <span class="muted grow">
          {app.loading.value?.title ??
            (ready
              ? "Several on a side are runs of it: their mean is compared."
              : together === undefined
                ? "Tick at least one profile on each side."
                : "Tick one on the other side to compare; or put these together: runs, ranks or snapshots, in this order.")}
        </span>
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        {together !== undefined && (
          <button
            type="button"
            class="button primary"
            onClick={() => {
              close();
              void app.putTogether(together);
            }}
          >
            Put {together.length} together
          </button>
        )}
        <button
          type="button"
          class={together === undefined ? "button primary" : "button"}
          disabled={!ready}
          onClick={() => {
            close();
            void app.compare(comparison);
          }}
        >
          Compare
        </button>
      </div>
    </Dialog>
  );
}

function CompareColumn(props: {
  side: Side;
  profiles: readonly Comparable[];
  noteOf: (profile: Comparable) => string;
  chosen: readonly Comparable[];
  onTick: (profile: Comparable, on: boolean) => void;
  onAdd: (profiles: readonly Comparable[]) => void;
}) {
  const app = useApp();
  const [path, setPath] = useState("");
  const [wrong, setWrong] = useState(false);
  const title = props.side === "before" ? "Before" : "After";
  const canUpload = app.can(UploadBeginRequest.method);
  const drop = async (files: readonly File[]) => {
    const sent = await sendAll(app, files);
    setWrong(sent.length < files.length);
    props.onAdd(sent.map(comparableOf));
    await app.list().catch(() => undefined);
  };
  return (
    <section
      class="compare-side"
      aria-label={title}
      onDrop={(event) => {
        delete document.documentElement.dataset.dropping;
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        event.stopPropagation();
        void drop(files);
      }}
    >
      <h3>{title}</h3>
      <ul>
        {props.profiles.map((profile) => (
          <li key={profile.id}>
            <label>
              <input
                type="checkbox"
                checked={props.chosen.some(({ id }) => id === profile.id)}
                onChange={(event) => props.onTick(profile, event.currentTarget.checked)}
              />
              <span>
                <Name text={profile.name} />
                <Name class="muted" text={props.noteOf(profile)} />
              </span>
            </label>
          </li>
        ))}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (path.trim() === "") return;
          props.onAdd([comparableOf({ uri: uriOf(path.trim()) })]);
          setPath("");
        }}
      >
        <input
          class="grow"
          type="text"
          aria-label={`Path of another profile, ${props.side}`}
          placeholder={canUpload ? "Path of another, or drop it here" : "Path of another"}
          spellcheck={false}
          value={path}
          onInput={(event) => setPath(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          Add
        </button>
      </form>
      {wrong && <p class="note">Not every file is a profile; what is wrong is said behind this window.</p>}
    </section>
  );
}
