// What the page looks like now: the reader's choice, the system's, an editor's; as values for the canvas.
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { css, oklch, TEXT, type Mode, type Rgb } from "../draw/colors.js";
import type { Ink } from "../draw/paint.js";
import type { Settings } from "../state/state.js";
import { useApp } from "./context.js";

export interface ThemeValues {
  readonly mode: Mode;
  readonly high: boolean;
  readonly forced: boolean;
  readonly reducedMotion: boolean;
  readonly font: string;
  readonly ground: string;
  readonly text: string;
  readonly accent: string;
}

const query = (text: string) => {
  const list = window.matchMedia(text);
  const value = signal(list.matches);
  list.addEventListener("change", () => (value.value = list.matches));
  return value;
};

const prefersDark = query("(prefers-color-scheme: dark)");
const prefersContrast = query("(prefers-contrast: more)");
const forcedColors = query("(forced-colors: active)");
const reducedMotion = query("(prefers-reduced-motion: reduce)");
/** Counts changes of an editor's theme. */
const editorTheme = signal(0);

// An editor tells its theme by classes of the body, and its colours as variables of the root.
if (typeof MutationObserver !== "undefined") {
  const observer = new MutationObserver(() => (editorTheme.value += 1));
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
  observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

function editorMode(): { mode: Mode; high: boolean } | undefined {
  const { classList } = document.body;
  if (classList.contains("vscode-high-contrast-light")) return { mode: "light", high: true };
  if (classList.contains("vscode-high-contrast")) return { mode: "dark", high: true };
  if (classList.contains("vscode-dark")) return { mode: "dark", high: false };
  if (classList.contains("vscode-light")) return { mode: "light", high: false };
  return undefined;
}

let cached: { settings: ReadonlySignal<Settings>; theme: ReadonlySignal<ThemeValues> } | undefined;

function themeOf(settings: ReadonlySignal<Settings>): ReadonlySignal<ThemeValues> {
  if (cached?.settings === settings) return cached.theme;
  const theme = computed((): ThemeValues => {
    const chosen = settings.value.theme;
    const editor = editorTheme.value >= 0 && chosen === "system" ? editorMode() : undefined;
    const mode: Mode =
      chosen === "light" || chosen === "dark" ? chosen : (editor?.mode ?? (prefersDark.value ? "dark" : "light"));
    const high = chosen === "contrast" || (editor?.high ?? (chosen === "system" && prefersContrast.value));
    const root = document.documentElement;
    root.dataset.mode = mode;
    root.dataset.contrast = high ? "more" : "standard";
    root.dataset.colors = editor === undefined ? "own" : "editor";
    const style = getComputedStyle(document.body);
    const read = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
    return {
      mode,
      high,
      forced: forcedColors.value,
      reducedMotion: reducedMotion.value || document.body.classList.contains("vscode-reduce-motion"),
      font: read("--font", "sans-serif"),
      ground: read("--ground", mode === "dark" ? "#14161c" : "#ffffff"),
      text: forcedColors.value ? "CanvasText" : read("--text", mode === "dark" ? "#e8eaf0" : "#1b1e26"),
      accent: forcedColors.value ? "Highlight" : read("--accent", "#4f7cff"),
    };
  });
  cached = { settings, theme };
  return theme;
}

export function useTheme(): ThemeValues {
  return themeOf(useApp().settings).value;
}

const MATCH: Readonly<Record<Mode, Rgb>> = { light: oklch(0.83, 0.16, 85), dark: oklch(0.52, 0.13, 70) };

export function inkOf(theme: ThemeValues): Ink {
  const dark = theme.mode === "dark";
  return {
    mode: theme.mode,
    ground: theme.forced ? "Canvas" : theme.ground,
    faint: dark ? "#23262f" : "#eceef3",
    match: theme.forced ? "Highlight" : css(MATCH[theme.mode]),
    matchText: theme.forced ? "HighlightText" : css(TEXT[theme.mode]),
    unmatched: dark ? "#2a2e38" : "#e6e8ee",
    unmatchedText: dark ? "#9aa1b2" : "#5d6475",
    hatch: dark ? "#4a5060" : "#bcc2cf",
    muted: dark ? "#b3b9c7" : "#4d5464",
    forced: theme.forced,
    edge: "CanvasText",
  };
}
