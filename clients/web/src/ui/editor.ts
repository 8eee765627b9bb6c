// Manners of a page in an editor's web view.
import { runKey } from "./keys.js";

const MAIN = "main .stage-tree, main [role=grid], main [role=treegrid]";

export function joinEditor(): void {
  // Keys that the editor keeps to itself come as its commands.
  window.addEventListener("message", (event: MessageEvent<unknown>) => {
    const data = event.data as { type?: unknown; key?: unknown } | null;
    if (data?.type === "key" && typeof data.key === "string") runKey(data.key);
  });
  // Keys are heard wherever the focus is in the page. A screen reader needs it at the picture, as at the text of a file.
  const settle = () => {
    if (!document.body.classList.contains("vscode-using-screen-reader")) return;
    if (document.activeElement === document.body && document.hasFocus())
      document.querySelector<HTMLElement>(MAIN)?.focus({ preventScroll: true });
  };
  window.addEventListener("focus", settle);
  new MutationObserver(settle).observe(document.body, { childList: true, subtree: true });
}
