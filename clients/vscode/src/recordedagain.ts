// Says what became of a profile that was recorded again: one quiet message, with the way to the diff.
import * as vscode from "vscode";
import { RecordedAgainRequest, type RecordedAgainResult } from "../../shared/ts/psp.js";
import { plain } from "./plain.js";
import type { Session } from "./session.js";
import { config } from "./settings.js";

/** A message that nobody looks at has gone from the screen by then. */
const AWAY_MS = 12_000;

export class RecordedAgain {
  private saying = false;
  /** The newest one that came meanwhile. */
  private next: string | undefined;

  constructor(
    private readonly session: Session,
    private readonly showDiff: (again: RecordedAgainResult) => Promise<void>,
  ) {}

  async tell(profile: string): Promise<void> {
    if (!config().get<boolean>("recordedAgain", true)) return;
    if (this.saying) {
      this.next = profile;
      return;
    }
    this.saying = true;
    try {
      await this.say(profile);
    } finally {
      this.saying = false;
    }
    const { next } = this;
    this.next = undefined;
    if (next !== undefined) await this.tell(next);
  }

  private async say(profile: string): Promise<void> {
    // What was before may be gone by now: then there is nothing to say.
    const again = await this.session.ask(RecordedAgainRequest, { profile }).catch(() => undefined);
    if (again === undefined) return;
    const show = vscode.l10n.t("Show the Diff");
    const answered = vscode.window.showInformationMessage(plain(again.text), show).then(async (chosen) => {
      if (chosen === show) await this.showDiff(again);
    });
    await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, AWAY_MS))]);
  }
}
