// Messages against LSP's types as Microsoft's library declares them, which are made from the meta model: each becomes a literal
// of its type, and what the compiler says of it is a fault.
//
// usage: validate.cjs TYPESCRIPT LIBRARY MESSAGES
//   TYPESCRIPT, LIBRARY: folders of the packages typescript and vscode-languageserver-protocol
//   MESSAGES: JSON, a list of {"type", "of", "value"}
const fs = require("node:fs");
const path = require("node:path");

const [typescript, library, file] = process.argv.slice(2);
const ts = require(path.resolve(typescript));
const messages = JSON.parse(fs.readFileSync(file, "utf8"));
const at = path.resolve(library, "../..");
const source = path.join(at, "messages.ts");
const lines = ['import type * as lsp from "vscode-languageserver-protocol";', "type LSPAny = lsp.LSPAny;"];
// A message a line, so that a line of a diagnostic says which.
for (const { type, value } of messages) {
  const named = type.replace(/\b[A-Z]\w+/g, (name) => (name === "LSPAny" ? name : `lsp.${name}`));
  lines.push(`export const m${lines.length}: ${named} = ${JSON.stringify(value)};`);
}
const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
const host = ts.createCompilerHost(options);
const { fileExists, readFile, getSourceFile } = host;
const text = lines.join("\n");
host.fileExists = (name) => name === source || fileExists.call(host, name);
host.readFile = (name) => (name === source ? text : readFile.call(host, name));
host.getSourceFile = (name, ...rest) =>
  name === source ? ts.createSourceFile(name, text, options.target, true) : getSourceFile.call(host, name, ...rest);
const program = ts.createProgram([source], options, host);
let faults = 0;
for (const one of ts.getPreEmitDiagnostics(program)) {
  const line = one.file?.fileName === source ? one.file.getLineAndCharacterOfPosition(one.start).line : -1;
  const message = messages[line - 2];
  const where = message ? `${message.of}: ${JSON.stringify(message.value).slice(0, 600)}` : (one.file?.fileName ?? "");
  console.error(`${where}\n  ${ts.flattenDiagnosticMessageText(one.messageText, "\n  ")}`);
  faults += 1;
}
console.log(`${messages.length} messages, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
