// Which function a command is about: the row it was called on, the place of a link or lens, or the cursor.
import * as vscode from "vscode";
import { SourceFunctionsRequest } from "../../shared/ts/psp.js";
import type { Frame } from "./reveal.js";
import type { Session } from "./session.js";
import { frameOf } from "./views/tree.js";

/** What commands are called with: a row of a tree, a lens of the daemon's, a link of a hover, a file of the explorer. */
interface Given {
  readonly function?: string;
  readonly profile?: string;
  readonly uri?: string;
  readonly line?: number;
}

export function sayNone(): void {
  void vscode.window.showInformationMessage(vscode.l10n.t("No profile is open."));
}

export async function functionFor(session: Session, given: unknown): Promise<Frame | undefined> {
  const frame = frameOf(given);
  if (frame !== undefined) return frame;
  const { function: name, profile, uri, line } = (given ?? {}) as Given;
  if (typeof name === "string") return { name, profile };
  const editor = vscode.window.activeTextEditor;
  const document = uri ?? editor?.document.uri.toString();
  const at = line ?? editor?.selection.active.line;
  if (document === undefined || at === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Put the cursor into a function first."));
    return undefined;
  }
  await session.ready();
  if (session.profiles.length === 0) {
    sayNone();
    return undefined;
  }
  const answer = await session.request(SourceFunctionsRequest, { textDocument: { uri: document }, line: at });
  const [first] = answer.functions;
  if (first === undefined) {
    void vscode.window.showInformationMessage(answer.text);
    return undefined;
  }
  if (answer.functions.length === 1) return { ...first, profile: answer.profile };
  const chosen = await vscode.window.showQuickPick(
    answer.functions.map((found) => ({
      label: found.shortName ?? found.name,
      description: [found.total.shareText, found.total.text].filter(Boolean).join("  "),
      ...(found.shortName === undefined ? {} : { detail: found.name }),
      frame: { ...found, profile: answer.profile },
    })),
    { placeHolder: vscode.l10n.t("Several functions were measured here. Which one?") },
  );
  return chosen?.frame;
}
