// Files outside the workspace: a profile names them, nobody else does. The daemon says what the user is asked, and the
// sources of which folder a yes shows.
import * as vscode from "vscode";
import { SourceOutsideRequest, type SourceOutsideParams, type SourceOutsideResult } from "../../shared/ts/psp.js";
import { asProblem } from "./problems.js";
import type { Session } from "./session.js";

/** A file of a profile: its path as the profile has it. */
export interface Named {
  readonly profile?: string | undefined;
  readonly file: string;
}

/** What came of it: a file that the user let be shown, or none; `never` is of a place that no answer shows sources of. */
export type Shown =
  | { readonly kind: "file"; readonly uri: vscode.Uri }
  | { readonly kind: "declined" | "absent" }
  | { readonly kind: "never"; readonly why: string };

export class Outside {
  /** Folders that the user said yes to, as long as this window lives: a new connection is told again. */
  private readonly agreed = new Set<string>();
  private readonly offered = new Set<string>();

  constructor(private readonly session: Session) {}

  /** Asks before all else, whenever somebody wants to go there. */
  ask(named: Named): Promise<Shown> {
    return this.show(named, ({ text }, yes) => vscode.window.showWarningMessage(text, { modal: true }, yes));
  }

  /** Asks beside the work, once for each folder. */
  offer(named: Named): Promise<Shown> {
    return this.show(named, ({ root, text }, yes) => {
      if (this.offered.has(root)) return undefined;
      this.offered.add(root);
      return vscode.window.showInformationMessage(text, yes);
    });
  }

  private async show(
    { profile, file }: Named,
    question: (asked: SourceOutsideResult, yes: string) => Thenable<string | undefined> | undefined,
  ): Promise<Shown> {
    const params: SourceOutsideParams = { ...(profile === undefined ? {} : { profile }), path: file };
    let asked: SourceOutsideResult;
    try {
      asked = await this.session.request(SourceOutsideRequest, params);
    } catch (error) {
      const problem = asProblem(error);
      if (problem?.data?.reason === "unsupported") return { kind: "never", why: problem.message };
      if (problem?.data?.reason === "notFound") return { kind: "absent" };
      throw error;
    }
    if (!asked.allowed) {
      const yes = vscode.l10n.t("Show Sources");
      if (!this.agreed.has(asked.root) && (await question(asked, yes)) !== yes) return { kind: "declined" };
      await this.session.request(SourceOutsideRequest, { ...params, allow: asked.root });
      this.agreed.add(asked.root);
    }
    return { kind: "file", uri: vscode.Uri.parse(asked.uri) };
  }
}
