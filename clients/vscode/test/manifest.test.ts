// package.json, its texts and the code name the same things.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editorFor, pagesOf, partsOfPage, profileOfPage } from "../src/editors.js";

const root = join(import.meta.dirname, "..");
const text = (path: string) => readFileSync(join(root, path), "utf8");

interface Menu {
  readonly command?: string;
}
interface Manifest {
  readonly version: string;
  readonly enabledApiProposals?: unknown;
  readonly engines: { readonly vscode: string };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] } };
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly menus: Readonly<Record<string, readonly Menu[]>>;
    readonly keybindings: readonly { readonly key: string; readonly command: string; readonly when?: string }[];
    readonly configuration: {
      readonly properties: Readonly<
        Record<
          string,
          Partial<Omit<Property, "type">> & { readonly scope?: string; readonly type?: string | readonly string[] }
        >
      >;
    };
    readonly customEditors: readonly {
      readonly viewType: string;
      readonly priority: string;
      readonly selector: readonly { readonly filenamePattern: string }[];
    }[];
    readonly views: { readonly profd: readonly { readonly id: string }[] };
  };
}
interface Property {
  /** Absent: one of `enum`, which are texts. */
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: { readonly required: readonly string[] };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly "x-configuration": boolean;
}
const schema = JSON.parse(text("../shared/settings/client.schema.json")) as {
  readonly properties: Readonly<Record<string, Property>>;
};
/** Settings of the daemon that the configuration has. */
const configured = Object.entries(schema.properties).filter(([, property]) => property["x-configuration"]);
const manifest = JSON.parse(text("package.json")) as Manifest;
const contributes = manifest.contributes;
const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? sources(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );

test("tabs that came back are asked for the files of pages alone", () => {
  const page = (viewType: string, uri: string, query = "") => ({
    input: { viewType, uri: { scheme: uri.split(":")[0] ?? "", query, toString: () => uri } },
  });
  const [first, any] = contributes.customEditors.map(({ viewType }) => viewType);
  const tabs = [
    { input: undefined },
    { input: { uri: { scheme: "file", toString: () => "file:///w/main.go" } } },
    page("hex", "file:///w/a.bin"),
    page(first ?? "", "file:///w/cpu.pprof"),
    page(any ?? "", "file:///w/out.txt"),
    page(first ?? "", "git:///w/cpu.pprof"),
    page(first ?? "", "profd-page:/a → b", "diff://?before=file%3A%2F%2F%2Fa&after=file%3A%2F%2F%2Fb"),
  ];
  expect(pagesOf(tabs)).toEqual([
    "file:///w/cpu.pprof",
    "file:///w/out.txt",
    "diff://?before=file%3A%2F%2F%2Fa&after=file%3A%2F%2F%2Fb",
  ]);
});

test("a page of what is no file is called what the profile is called, whatever that is", () => {
  const uri = "diff://?before=a&after=b";
  const parts = partsOfPage(uri, "cpu/1.pprof → 100 % ?#.pprof");
  expect(parts.path).toBe("/cpu∕1.pprof → 100 % ?#.pprof");
  expect(profileOfPage({ ...parts, toString: () => "" })).toBe(uri);
});

test("a file opens in the editor that is listed for its name, any other one in the editor for all", () => {
  for (const name of ["cpu.pprof", "CPU.PPROF", "a.pb.gz", "perf.data", "callgrind.out.123", "isolate-1-v8.log"])
    expect(editorFor(manifest, `/folder/${name}`), name).toBe("profd.profile");
  for (const name of ["notes.txt", "pprof", "perfxdata", "my-perf.data", "cpu.pprof/notes"])
    expect(editorFor(manifest, `/folder/${name}`), name).toBe("profd.profileAny");
});

test("every text is there, and none that nobody says", () => {
  const used = new Set([...text("package.json").matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key));
  expect(Object.keys(JSON.parse(text("package.nls.json")) as object).sort()).toEqual([...used].sort());
});

test("every command is done by the code", () => {
  const done = [...text("src/commands.ts").matchAll(/^ {4}"?([\w.]+)"?(?:: |,$)/gm)].map(
    ([, name]) => `profd.${name ?? ""}`,
  );
  const declared = contributes.commands.map(({ command }) => command);
  expect(declared.filter((command) => !done.includes(command))).toEqual([]);
});

test("menus and keys name commands that are there", () => {
  const declared = new Set(contributes.commands.map(({ command }) => command));
  const named = [...Object.values(contributes.menus).flat(), ...contributes.keybindings];
  expect(named.flatMap(({ command }) => (command === undefined || declared.has(command) ? [] : [command]))).toEqual([]);
});

test("keys hold where profd is used alone", () => {
  for (const { when } of contributes.keybindings) expect(when).toMatch(/profd/);
});

test("settings that the code reads are declared, and every one that is declared is read", () => {
  const code = sources("src").map(text).join("\n");
  const read = new Set(
    [...code.matchAll(/(?:config\(\)\.(?:get|update)(?:<[^(]*>)?|explicit|set)\(\s*"([\w.]+)"/g)].map(
      ([, key]) => `profd.${key ?? ""}`,
    ),
  );
  for (const [key] of configured) read.add(`profd.${key}`); // settings.ts reads what the schema says
  read.add("profd.openProjectProfiles").add("profd.trace.server"); // read by extension.ts of a folder; by the language client
  expect([...read].sort()).toEqual(Object.keys(contributes.configuration.properties).sort());
});

test("settings of the daemon are declared as the table of settings has them", () => {
  expect(configured.length).toBeGreaterThan(0);
  for (const [key, property] of configured) {
    const declared = contributes.configuration.properties[`profd.${key}`];
    expect([declared?.type].flat(), key).toContain(property.type ?? "string");
    expect(declared?.enum, key).toEqual(property.enum);
    expect([declared?.minimum, declared?.maximum], key).toEqual([property.minimum, property.maximum]);
    expect(declared?.items?.required, key).toEqual(property.items?.required);
  }
});

test("settings that name programs and folders are no workspace's to set, and wait for trust", () => {
  for (const key of ["profd.path", "profd.arguments"]) {
    expect(contributes.configuration.properties[key]?.scope).toBe("machine");
    expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain(key);
  }
});

test("the types are of the oldest editor that is promised, and no proposed API is asked for", () => {
  expect(`^${manifest.devDependencies["@types/vscode"] ?? ""}`).toBe(manifest.engines.vscode);
  expect(manifest.enabledApiProposals).toBeUndefined();
});

test("any file can be opened, and only endings of profiles are opened unasked", () => {
  const [own, any] = contributes.customEditors;
  expect(any).toMatchObject({ priority: "option", selector: [{ filenamePattern: "*" }] });
  const patterns = (own?.selector ?? []).map(({ filenamePattern }) => filenamePattern);
  for (const own of ["*.pprof", "*.prof", "*.perf", "*.script"]) expect(patterns).toContain(own);
  for (const common of [
    "*.json",
    "*.txt",
    "*.gz",
    "*.svg",
    "*.html",
    "*.csv",
    "*.cpuprofile",
    "*.xml",
    "*.db",
    "*.dump",
  ])
    expect(patterns).not.toContain(common);
});

test("nothing but the first words is loaded with the editor", () => {
  expect(text("src/extension.ts")).not.toMatch(/from "vscode-languageclient/);
  const imports = [...text("src/extension.ts").matchAll(/^import (type )?.* from "(\.[^"]+)"/gm)];
  expect(imports.filter(([, type]) => type === undefined).map(([, , path]) => path)).toEqual([
    "./editors.js",
    "./ids.js",
  ]);
});

test("the page for users has every setting and the keys as they are", () => {
  const page = text("../../docs/editors/vscode.md");
  for (const key of Object.keys(contributes.configuration.properties)) expect(page).toContain(`\`${key}\``);
  for (const { key } of contributes.keybindings) {
    const shown = key.replace(/\w+/g, (word) =>
      word.length > 1 ? word.slice(0, 1).toUpperCase() + word.slice(1) : word.toUpperCase(),
    );
    expect(page).toContain(shown);
  }
});

test("what is said can be translated: texts are whole and stand in the code", () => {
  for (const file of sources("src")) expect(text(file)).not.toMatch(/l10n\.t\(\s*[^"\s]/);
});
