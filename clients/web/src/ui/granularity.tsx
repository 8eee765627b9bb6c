// What the frames of a tree or flame graph stand for.
import type { App } from "../app.js";
import { go } from "../state/state.js";
import { Select } from "./bits.js";

const CHOICES = [
  { id: "function", text: "function" },
  { id: "line", text: "line" },
  { id: "file", text: "file" },
  { id: "module", text: "module" },
  { id: "address", text: "address" },
] as const;

export function GranularitySelect({ app }: { app: App }) {
  return (
    <Select
      label="Frames by"
      value={app.place.value.granularity}
      choices={CHOICES}
      onChange={(granularity) => app.update((state) => go(state, { granularity, zoom: [] }))}
    />
  );
}
