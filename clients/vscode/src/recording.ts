// What recordings need before anything was recorded: tasks, and lenses on tests. Loaded when the editor asks for one of them.
import * as vscode from "vscode";
import { RecordTasks } from "./record/tasks.js";
import { testsIn, type Test } from "./record/tests.js";
import { config } from "./settings.js";

export function tasks(context: vscode.ExtensionContext): RecordTasks {
  return new RecordTasks(context);
}

export function lensesOf(document: vscode.TextDocument): vscode.CodeLens[] {
  if (!vscode.workspace.isTrusted || !config().get<boolean>("testLens", false)) return [];
  return testsOf(document).map(
    (test) =>
      new vscode.CodeLens(new vscode.Range(test.line, 0, test.line, 0), {
        title: vscode.l10n.t("profile"),
        tooltip: vscode.l10n.t("Records {0} and shows what it cost", test.name),
        command: "profd.recordTest",
        arguments: [document.uri, test.name],
      }),
  );
}

/** Of what is on disk: that is what runs. */
export function testsOf(document: vscode.TextDocument): readonly Test[] {
  const python = vscode.workspace.getConfiguration("python", document).get<string>("defaultInterpreterPath", "");
  const file = {
    language: document.languageId,
    path: document.uri.path,
    relative: vscode.workspace.asRelativePath(document.uri, false),
  };
  return testsIn(file, document.getText(), python.startsWith("/") ? python : undefined);
}
