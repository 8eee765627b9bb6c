// The row above a view: what is its own, then the filters, which are everybody's.
import type { ComponentChildren } from "preact";
import { Chips } from "./chips.js";

export function Toolbar({ children }: { children?: ComponentChildren }) {
  return (
    <div class="toolbar-row">
      <div class="toolbar">{children}</div>
      <Chips />
    </div>
  );
}
