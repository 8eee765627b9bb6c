// What became of a profile: which ones are meant, before and after; and several put together.
import * as vscode from "vscode";
import {
  ProfileListRequest,
  type ComposedPart,
  type ProfileListEntry,
  type RecordedAgainResult,
} from "../../shared/ts/psp.js";
import { fileAtHead } from "./head.js";
import { baseName } from "./opening.js";
import type { Session } from "./session.js";
import { isDiff, whereOf } from "./views/profiles.js";

/** One of them, and what it is called. */
export interface Side {
  readonly part: ComposedPart;
  readonly name: string;
}

export class Comparing {
  constructor(
    private readonly session: Session,
    /** Brings the page of a profile to the front. */
    private readonly showPage: (profile: string) => Promise<void>,
    /** For what a file was in a commit. */
    private readonly storage: vscode.Uri,
  ) {}

  /** Asks for both. */
  async ask(): Promise<void> {
    const before = await this.choose(vscode.l10n.t("Compare: what is before?"));
    if (before === undefined) return;
    const after = await this.choose(vscode.l10n.t("Compare {0} with what is after?", before.name), before.part.profile);
    if (after !== undefined) await this.show([before], [after]);
  }

  /** Of two the older one is before, of more the oldest, unless the person says otherwise. */
  async files(uris: readonly vscode.Uri[]): Promise<void> {
    await this.among(await oldestFirst(uris.map((uri) => ({ uri, side: sideOf(uri) }))));
  }

  /** The same of open ones. */
  async profiles(entries: readonly ProfileListEntry[]): Promise<void> {
    const sides = entries.map((entry) => ({ uri: vscode.Uri.parse(entry.uri), side: sideOfOpen(entry) }));
    await this.among(await oldestFirst(sides));
  }

  /** Asks what was there before an open one. */
  async withBefore(entry: ProfileListEntry): Promise<void> {
    const before = await this.choose(vscode.l10n.t("Compare {0} with what was before it?", entry.name), entry.profile);
    if (before !== undefined) await this.show([before], [sideOfOpen(entry)]);
  }

  /** With the file as it is in the commit that is checked out. */
  async withHead(uri: vscode.Uri): Promise<void> {
    await this.show([sideOf(await fileAtHead(uri, this.storage))], [sideOf(uri)]);
  }

  /** With what it was before it was recorded again. */
  async withPrevious({ profile, before, member }: RecordedAgainResult): Promise<void> {
    const now = this.session.profiles.find((entry) => entry.profile === profile);
    if (now === undefined) return;
    const part = { uri: before, ...(member === undefined ? {} : { member }) };
    await this.show([{ part, name: vscode.l10n.t("what was before") }], [sideOfOpen(now)]);
  }

  /** One profile of several: runs, ranks, snapshots of one program. */
  async aggregate(of: readonly (vscode.Uri | ProfileListEntry)[]): Promise<void> {
    const parts = of.map((one) => (one instanceof vscode.Uri ? sideOf(one) : sideOfOpen(one)).part);
    const title = vscode.l10n.t("Putting {0} profiles together", parts.length);
    const { summary } = await this.session.aggregateWithProgress(parts, title);
    await this.showPage(summary.uri);
  }

  private async among(sides: readonly Side[]): Promise<void> {
    const [first, second] = sides;
    if (first === undefined || second === undefined) return;
    if (sides.length > 2) {
      await this.amongMany(sides);
      return;
    }
    const orders: readonly (readonly [Side, Side])[] = [
      [first, second],
      [second, first],
    ];
    const chosen = await vscode.window.showQuickPick(
      orders.map((order) => ({ label: order.map(({ name }) => name).join(" → "), order })),
      { title: vscode.l10n.t("Compare: which one is before?") },
    );
    if (chosen !== undefined) await this.show([chosen.order[0]], [chosen.order[1]]);
  }

  private async amongMany(sides: readonly Side[]): Promise<void> {
    const chosen = await vscode.window.showQuickPick(
      sides.map((side, at) => ({ label: side.name, side, picked: at === 0 })),
      {
        canPickMany: true,
        title: vscode.l10n.t("Compare: which ones are before? The others are after."),
        placeHolder: vscode.l10n.t("Several on a side are runs of it: their mean is compared"),
      },
    );
    if (chosen === undefined) return;
    const before = chosen.map(({ side }) => side);
    const after = sides.filter((side) => !before.includes(side));
    if (before.length === 0 || after.length === 0)
      throw new Error(vscode.l10n.t("Nothing to compare: one is before at least, and one after."));
    await this.show(before, after);
  }

  /** One of those that are open, of which diffs are none, or a file. */
  async choose(title: string, without?: string): Promise<Side | undefined> {
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
    return chosen.entry === undefined ? this.chooseFile(title) : sideOfOpen(chosen.entry);
  }

  private async chooseFile(title: string): Promise<Side | undefined> {
    const [uri] = (await vscode.window.showOpenDialog({ title, openLabel: vscode.l10n.t("Compare") })) ?? [];
    return uri && sideOf(uri);
  }

  /** Reads them, shows the diff in the code, and its page in an editor. */
  private async show(before: readonly Side[], after: readonly Side[]): Promise<void> {
    const title = vscode.l10n.t("Comparing {0} with {1}", namesOf(before), namesOf(after));
    const { summary } = await this.session.diffWithProgress(partsOf(before), partsOf(after), title);
    await this.showPage(summary.uri);
  }
}

function sideOf(uri: vscode.Uri): Side {
  return { part: { uri: uri.toString() }, name: baseName(uri) };
}

function sideOfOpen({ profile, name }: ProfileListEntry): Side {
  return { part: { profile }, name };
}

function partsOf(sides: readonly Side[]): ComposedPart[] {
  return sides.map(({ part }) => part);
}

function namesOf(sides: readonly Side[]): string {
  return sides.map(({ name }) => name).join(", ");
}

/** By when their files were written; what is no file is as new as can be. */
async function oldestFirst(
  sides: readonly { readonly uri: vscode.Uri; readonly side: Side }[],
): Promise<readonly Side[]> {
  const dated = await Promise.all(
    sides.map(async ({ uri, side }) => ({
      side,
      written: uri.scheme === "file" ? (await vscode.workspace.fs.stat(uri)).mtime : Infinity,
    })),
  );
  dated.sort((a, b) => (a.written === b.written ? 0 : a.written < b.written ? -1 : 1));
  return dated.map(({ side }) => side);
}
