// Runs check() over the generated test data: node codec_test.js FOLDER. What a file's name says must be what check() says.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";

import { check } from "../check.js";
import { schema } from "../psp_guards.js";
import { FlameGraphRequest, PROTOCOL_VERSION, type FlameGraphParams, type RequestType } from "../psp.js";

// The types are of use as types.
const params: FlameGraphParams = { spec: { shape: "bottomUp", filters: [] }, viewport: { width: 1200 } };
function typed<P, R>(request: RequestType<P, R>, value: P): string {
  return `${request.method} ${JSON.stringify(value)}`;
}

const folder = argv[2] ?? ".";
let checked = 0;
let wrong = 0;
for (const file of readdirSync(folder)) {
  const match = /^(\w+)-(valid|invalid)-\d+\.json$/.exec(file);
  if (match === null) continue;
  const value: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const fault = check(schema, match[1]!, value);
  checked += 1;
  if ((fault === undefined) !== (match[2] === "valid")) {
    wrong += 1;
    console.error(`${file}: ${fault ?? "taken, though it is invalid"}`);
  }
}
if (check(schema, "FlameGraphParams", params) !== undefined || PROTOCOL_VERSION < 1) wrong += 1;
if (!typed(FlameGraphRequest, params).startsWith("view/flameGraph")) wrong += 1;
console.log(`${checked} files checked, ${wrong} wrong`);
exit(checked > 1000 && wrong === 0 ? 0 : 1);
