// The ways in: asking for files, recent ones, and what to do about a file that cannot be read.
import * as vscode from "vscode";
import { asProblem, explain, showError } from "./problems.js";
import type { Recent } from "./recent.js";
import { NoDaemon, type OpenHow, type Session } from "./session.js";

export class Opening {
  constructor(
    private readonly session: Session,
    private readonly recent: Recent,
    /** Brings the page of a profile to the front. */
    private readonly showPage: (profile: string, options: vscode.TextDocumentShowOptions) => Promise<void>,
  ) {}

  /** Reads a profile, shows it in the code, and its page in an editor. */
  async show(uri: vscode.Uri, how: OpenHow = {}): Promise<void> {
    try {
      await this.session.openWithProgress(uri.toString(), vscode.l10n.t("Reading {0}", baseName(uri)), how);
    } catch (error) {
      if (!(error instanceof NoDaemon)) await this.tell(uri, error);
      return;
    }
    await this.recent.add(uri.toString());
    await this.showPage(uri.toString(), { preview: false });
  }

  async ask(): Promise<void> {
    const chosen = await vscode.window.showOpenDialog({
      canSelectMany: true,
      title: vscode.l10n.t("Open Profiles"),
      openLabel: vscode.l10n.t("Open"),
    });
    for (const uri of chosen ?? []) await this.show(uri);
  }

  async askRecent(): Promise<void> {
    const remove = { iconPath: new vscode.ThemeIcon("close"), tooltip: vscode.l10n.t("Remove from the List") };
    const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly uri?: string }>();
    const fill = () => {
      pick.items = [
        ...this.recent.all.map((uri) => ({
          label: baseName(vscode.Uri.parse(uri)),
          description: vscode.workspace.asRelativePath(vscode.Uri.joinPath(vscode.Uri.parse(uri), "..")),
          buttons: [remove],
          uri,
        })),
        { label: vscode.l10n.t("Open Another…") },
      ];
    };
    pick.title = vscode.l10n.t("Open Recent Profile");
    fill();
    pick.onDidTriggerItemButton(({ item }) => {
      if (item.uri !== undefined) void this.recent.remove(item.uri).then(fill);
    });
    const chosen = await new Promise<(typeof pick.items)[number] | undefined>((resolve) => {
      pick.onDidAccept(() => resolve(pick.selectedItems[0]));
      pick.onDidHide(() => resolve(undefined));
      pick.show();
    });
    pick.dispose();
    if (chosen === undefined) return;
    if (chosen.uri === undefined) await this.ask();
    else await this.show(vscode.Uri.parse(chosen.uri));
  }

  private async tell(uri: vscode.Uri, error: unknown): Promise<void> {
    const text = explain(error);
    if (text === undefined) return;
    const reason = asProblem(error)?.data?.reason;
    const partial = {
      title: vscode.l10n.t("Open What Can Be Read"),
      run: () => this.show(uri, { partial: true }),
    };
    const format = { title: vscode.l10n.t("Choose Format…"), run: () => this.askFormat(uri) };
    const another = { title: vscode.l10n.t("Open Another…"), run: () => this.ask() };
    if (reason === "truncated") await showError(text, partial, another);
    else if (reason === "notFound") await showError(text, another);
    else await showError(text, format, another);
  }

  private async askFormat(uri: vscode.Uri): Promise<void> {
    const chosen = await vscode.window.showQuickPick(
      this.session.formats
        .filter((format) => format.reads)
        .map((format) => ({ label: format.title, description: format.id })),
      { title: vscode.l10n.t("What wrote {0}?", baseName(uri)), matchOnDescription: true },
    );
    if (chosen !== undefined) await this.show(uri, { format: chosen.description });
  }
}

export function baseName(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf("/") + 1);
}
