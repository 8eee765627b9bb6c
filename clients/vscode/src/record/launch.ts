// Launch configurations as commands: what the debugger would start, started by the recorder.

export interface Launched {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}
/** Or why it is none, to be followed by the configuration's name. */
export type Launch = Launched | { readonly cannot: "attaches" | "unknown type" | "variable"; readonly what: string };

type Configuration = Readonly<Record<string, unknown>>;

const NATIVE: readonly string[] = ["cppdbg", "cppvsdbg", "lldb", "lldb-dap", "gdb"];
const PYTHON: readonly string[] = ["python", "debugpy"];
const NODE: readonly string[] = ["node", "pwa-node"];

export function launchOf(configuration: Configuration, variables: Readonly<Record<string, string>>): Launch {
  const type = textOf(configuration.type);
  if (configuration.request !== "launch") return { cannot: "attaches", what: textOf(configuration.request) };
  const words = wordsOf(type, configuration);
  if (words === undefined) return { cannot: "unknown type", what: type };
  const unknown = { name: "" };
  const fill = (text: string) =>
    text.replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
      const value = variables[name];
      if (value === undefined) unknown.name = whole;
      return value ?? whole;
    });
  const command = words.map(fill);
  const cwd = configuration.cwd === undefined ? undefined : fill(textOf(configuration.cwd));
  const env = Object.fromEntries(
    Object.entries((configuration.env ?? {}) as Record<string, unknown>).map(([key, value]) => [
      key,
      fill(textOf(value)),
    ]),
  );
  if (unknown.name !== "") return { cannot: "variable", what: unknown.name };
  return {
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
}

function wordsOf(type: string, configuration: Configuration): readonly string[] | undefined {
  const program = textOf(configuration.program);
  const args = textsOf(configuration.args);
  if (NATIVE.includes(type)) return program === "" ? undefined : [program, ...args];
  if (PYTHON.includes(type)) {
    const python = textOf(configuration.python) || "python3";
    const module = textOf(configuration.module);
    const options = textsOf(configuration.pythonArgs);
    if (module !== "") return [python, ...options, "-m", module, ...args];
    return program === "" ? undefined : [python, ...options, program, ...args];
  }
  if (NODE.includes(type)) {
    if (program === "") return undefined;
    const node = textOf(configuration.runtimeExecutable) || "node";
    return [node, ...textsOf(configuration.runtimeArgs), program, ...args];
  }
  if (type === "go") {
    if (program === "") return undefined;
    if (configuration.mode === "exec") return [program, ...args];
    if (configuration.mode === "test") return ["go", "test", program, ...args];
  }
  return undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}
