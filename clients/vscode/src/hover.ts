// The daemon's hover, and below it what can be done from there. The daemon's text has names from files, which it
// escaped; it is not trusted with commands all the same.
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { InCode } from "./heat.js";
import { config, hintStyle } from "./settings.js";

const COMMANDS = [
  "profd.revealInFlameGraph",
  "profd.callers",
  "profd.callees",
  "profd.within",
  "profd.bookmarks.add",
] as const;

export function middleware(inCode: InCode): Middleware {
  return {
    provideHover: async (document, position, token, next) => {
      if (!inCode.on || !config().get<boolean>("hover", true)) return undefined;
      const hover = await next(document, position, token);
      if (hover === undefined || hover === null) return undefined;
      return new vscode.Hover([...hover.contents, deeds(document.uri, position)], hover.range);
    },
    provideInlayHints: async (document, range, token, next) => {
      if (!inCode.on || hintStyle(document) !== "inlay") return [];
      return (await next(document, range, token))?.map(setApart);
    },
    provideCodeLenses: async (document, token, next) =>
      inCode.on ? (await next(document, token))?.flatMap(withWithin) : [],
  };
}

/** Beside what a function costs, which leads to its callers, the way to where within it that is. */
function withWithin(lens: vscode.CodeLens): vscode.CodeLens[] {
  const { command } = lens;
  if (command?.command !== "profd.callers") return [lens];
  const title = vscode.l10n.t("within the function");
  return [lens, new vscode.CodeLens(lens.range, { ...command, title, command: "profd.within" })];
}

/** The editor's own padding is a few pixels: `return 1` and `0.5 %` would read `return 10.5 %`. */
function setApart(hint: vscode.InlayHint): vscode.InlayHint {
  if (typeof hint.label === "string") hint.label = `\u00a0\u00a0${hint.label}`;
  return hint;
}

function deeds(uri: vscode.Uri, position: vscode.Position): vscode.MarkdownString {
  const at = encodeURIComponent(JSON.stringify([{ uri: uri.toString(), line: position.line }]));
  const titles = [
    vscode.l10n.t("Flame graph"),
    vscode.l10n.t("Who calls this"),
    vscode.l10n.t("What is slow below"),
    vscode.l10n.t("Within the function"),
    vscode.l10n.t("Bookmark"),
  ];
  const page = new vscode.MarkdownString(
    COMMANDS.map((command, i) => `[${titles[i] ?? ""}](command:${command}?${at})`).join(" · "),
  );
  page.isTrusted = { enabledCommands: COMMANDS };
  return page;
}
