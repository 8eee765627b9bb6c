// What became of a profile: which two are meant, before and after.
import * as vscode from "vscode";
import { ProfileListRequest, type ComposedPart, type ProfileListEntry } from "../../shared/ts/psp.js";
import { baseName } from "./opening.js";
import type { Session } from "./session.js";
import { isDiff, whereOf } from "./views/profiles.js";

/** One of the two, and what it is called. */
interface Side {
  readonly part: ComposedPart;
  readonly name: string;
}

export class Comparing {
  constructor(
    private readonly session: Session,
    /** Brings the page of a profile to the front. */
    private readonly showPage: (profile: string) => Promise<void>,
  ) {}

  /** Asks for both. */
  async ask(): Promise<void> {
    const before = await this.choose(vscode.l10n.t("Compare: what is before?"));
    if (before === undefined) return;
    const after = await this.choose(vscode.l10n.t("Compare {0} with what is after?", before.name), before.part.profile);
    if (after !== undefined) await this.show(before, after);
  }

  /** Of two files the older one is before, unless the person says otherwise. */
  async files(...uris: readonly [vscode.Uri, vscode.Uri]): Promise<void> {
    const written = await Promise.all(uris.map(async (uri) => (await vscode.workspace.fs.stat(uri)).mtime));
    const [first, second] = uris.map((uri): Side => ({ part: { uri: uri.toString() }, name: baseName(uri) }));
    if (first === undefined || second === undefined) return;
    const orders: readonly (readonly [Side, Side])[] = [
      [first, second],
      [second, first],
    ];
    const isLater = (written[0] ?? 0) > (written[1] ?? 0);
    const chosen = await vscode.window.showQuickPick(
      (isLater ? [...orders].reverse() : orders).map((order) => ({
        label: order.map(({ name }) => name).join(" → "),
        order,
      })),
      { title: vscode.l10n.t("Compare: which one is before?") },
    );
    if (chosen !== undefined) await this.show(...chosen.order);
  }

  /** Asks what was there before an open one. */
  async withBefore(entry: ProfileListEntry): Promise<void> {
    const before = await this.choose(vscode.l10n.t("Compare {0} with what was before it?", entry.name), entry.profile);
    if (before !== undefined) await this.show(before, { part: { profile: entry.profile }, name: entry.name });
  }

  /** One of those that are open, of which diffs are none, or a file. */
  private async choose(title: string, without?: string): Promise<Side | undefined> {
    const { profiles } = await this.session.request(ProfileListRequest, {});
    const open = profiles.filter((entry) => entry.profile !== without && entry.state === "ready" && !isDiff(entry));
    if (open.length === 0) return this.chooseFile(title);
    const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem & { readonly entry?: ProfileListEntry }>(
      [
        ...open.map((entry) => ({
          label: entry.name,
          description: [entry.total?.text, entry.metric].filter(Boolean).join("  "),
          detail: whereOf(entry),
          entry,
        })),
        { label: `$(folder-opened) ${vscode.l10n.t("A File…")}` },
      ],
      { title },
    );
    if (chosen === undefined) return undefined;
    if (chosen.entry === undefined) return this.chooseFile(title);
    return { part: { profile: chosen.entry.profile }, name: chosen.entry.name };
  }

  private async chooseFile(title: string): Promise<Side | undefined> {
    const [uri] = (await vscode.window.showOpenDialog({ title, openLabel: vscode.l10n.t("Compare") })) ?? [];
    return uri && { part: { uri: uri.toString() }, name: baseName(uri) };
  }

  /** Reads both, shows the diff in the code, and its page in an editor. */
  private async show(before: Side, after: Side): Promise<void> {
    const title = vscode.l10n.t("Comparing {0} with {1}", before.name, after.name);
    const { summary } = await this.session.diffWithProgress(before.part, after.part, title);
    await this.showPage(summary.uri);
  }
}
