import js from "@eslint/js";
import ts from "typescript-eslint";
import { clientConfig } from "../shared/lint/eslint.mjs";

export default clientConfig({
  js,
  ts,
  ignores: ["bin/", "media/"],
  sources: ["src/**/*.ts", "test/**/*.ts"],
  scripts: ["tools/**/*.mjs", "*.mjs", "*.mts"],
});
