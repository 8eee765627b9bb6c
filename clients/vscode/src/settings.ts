// Settings of the editor, as the daemon takes them (docs/settings.md).
import * as vscode from "vscode";
import schema from "../../shared/settings/client.schema.json";

/** Settings of the daemon that the configuration has, by the names that both use. */
const CONFIGURED = Object.entries(schema.properties)
  .filter(([, property]) => property["x-configuration"])
  .map(([key]) => key);

export function config(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("profd");
}

/** What somebody set; the default of a setting is no word: `.profd.toml` goes before it. */
function explicit(key: string): unknown {
  const found = config().inspect(key);
  const set = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
  return set === "" || set === null ? undefined : set;
}

/** `filters`: the clauses of the side bar's lists, by the URI of their profile. */
export function daemonSettings(filters: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  return {
    ...Object.fromEntries(CONFIGURED.map((key) => [key, explicit(key)])),
    inlayHints: true,
    profileFilters: filters,
    projectFile: vscode.workspace.isTrusted && config().get<boolean>("openProjectProfiles", true),
  };
}

export type HintStyle = "inlay" | "decoration" | "off";

/** How costs at line ends are shown in a document. */
export function hintStyle(document: vscode.TextDocument): HintStyle {
  const set = config().get<string>("hints", "auto");
  if (set !== "auto") return set as HintStyle;
  const editor = vscode.workspace.getConfiguration("editor", document);
  return editor.get<string>("inlayHints.enabled", "on") === "off" ? "decoration" : "inlay";
}
