// What holds for the TypeScript of every client. The packages are the client's own: a module here finds none.

/** `js` and `ts` are the packages; `ignores`, `sources` and `scripts` are patterns; `rules` are the client's own. */
export function clientConfig({ js, ts, ignores, sources, scripts, rules = {} }) {
  return ts.config(
    { ignores: [...ignores, "dist/", "node_modules/"] },
    js.configs.recommended,
    {
      files: sources,
      extends: [...ts.configs.strictTypeChecked, ...ts.configs.stylisticTypeChecked],
      languageOptions: { parserOptions: { project: "./tsconfig.json" } },
      rules: {
        "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
        "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
        ...rules,
      },
    },
    {
      files: scripts,
      languageOptions: {
        globals: {
          process: "readonly",
          console: "readonly",
          Buffer: "readonly",
          URL: "readonly",
          setTimeout: "readonly",
          clearTimeout: "readonly",
        },
      },
    },
  );
}
