import js from "@eslint/js";
import ts from "typescript-eslint";
import { clientConfig } from "../shared/lint/eslint.mjs";

export default clientConfig({
  js,
  ts,
  ignores: [],
  sources: ["src/**/*.{ts,tsx}", "test/**/*.ts", "bench/**/*.ts"],
  scripts: ["tools/**/*.mjs", "bench/**/*.mjs", "*.js", "*.ts"],
  // Typed arrays are read in bounds that their loop states; the checker cannot see it.
  rules: { "@typescript-eslint/no-non-null-assertion": "off" },
});
