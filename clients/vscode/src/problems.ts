// Errors as sentences, with buttons that do what the sentence says.
import * as vscode from "vscode";
import { ErrorCodes, type ErrorData } from "../../shared/ts/psp.js";
import { plain } from "./plain.js";

export interface Deed {
  readonly title: string;
  readonly run: () => unknown;
}

export interface RpcProblem {
  readonly code: number;
  readonly message: string;
  readonly data?: ErrorData;
}

export function asProblem(error: unknown): RpcProblem | undefined {
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: unknown; data?: ErrorData };
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return data === undefined ? { code, message } : { code, message, data };
}

/** The sentence; nothing where there is nothing to say: it was cancelled, or is asked again anyway. */
export function explain(error: unknown): string | undefined {
  if (error instanceof vscode.CancellationError) return undefined;
  const problem = asProblem(error);
  const silent: readonly number[] = [ErrorCodes.requestCancelled, ErrorCodes.contentModified];
  if (problem !== undefined) return silent.includes(problem.code) ? undefined : problem.message;
  return error instanceof Error ? error.message : String(error);
}

export async function showError(text: string, ...deeds: Deed[]): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(plain(text), ...deeds.map((deed) => deed.title));
  await deeds.find((deed) => deed.title === chosen)?.run();
}

export async function showWarning(text: string, ...deeds: Deed[]): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(plain(text), ...deeds.map((deed) => deed.title));
  await deeds.find((deed) => deed.title === chosen)?.run();
}
