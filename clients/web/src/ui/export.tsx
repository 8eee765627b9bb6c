// What can be taken from the page: pictures of what is seen, and what the daemon writes.
import { useEffect } from "preact/hooks";
import { HotspotsRequest, ProfileExportRequest } from "../../../shared/ts/psp.js";
import type { App, Home } from "../app.js";
import { shown } from "../draw/shown.js";
import { filtersOf, specOf } from "../state/place.js";
import { specText } from "../state/spec.js";
import { copyText, fileName, saveBlob, saveText } from "./copy.js";
import { useApp } from "./context.js";
import type { MenuItem } from "./menu.js";

export interface Pictures {
  readonly svg: () => void;
  readonly png: () => void;
}

let pictures: Pictures | undefined;

/** A view that can be taken as a picture says how, while it is shown. */
export function useExport(given: Pictures): void {
  useEffect(() => {
    pictures = given;
    return () => {
      if (pictures === given) pictures = undefined;
    };
  });
}

/** In a table of Markdown a name must not end its cell, nor become markup. */
export function markdownCell(text: string): string {
  return shown(text).replace(/[\\`*_{}[\]<>|#~!&]/g, (ch) => `\\${ch}`);
}

async function written(app: App, format: string, shape?: "flat"): Promise<void> {
  const profile = app.profile.peek();
  if (profile === undefined) return;
  const place = app.place.peek();
  const spec = specText({ ...specOf(place, shape), metric: place.metric || profile.metric });
  try {
    const result = await app.client.request(ProfileExportRequest, { profile: profile.handle, format, spec });
    const name = `${fileName(profile.name)}.${endingOf(app, format)}`;
    if (result.text !== undefined) saveText(name, result.text, result.mimeType);
    else if (result.base64 !== undefined)
      saveBlob(
        name,
        new Blob([Uint8Array.from(atob(result.base64), (ch) => ch.charCodeAt(0))], { type: result.mimeType }),
      );
    for (const row of result.report) app.say(row.message, "warning");
  } catch (error) {
    const text = app.explain(error);
    if (text !== undefined) app.say(text, "error");
  }
}

function endingOf(app: App, format: string): string {
  return app.server?.formats.find((f) => f.id === format)?.extensions[0] ?? format;
}

async function markdown(app: App): Promise<void> {
  const profile = app.profile.peek();
  if (profile === undefined) return;
  const place = app.place.peek();
  const metric = place.metric || profile.metric;
  try {
    const hot = await app.client.request(HotspotsRequest, {
      profile: profile.handle,
      metric,
      filters: filtersOf(place),
      limit: 10,
    });
    const spec = specText({ ...specOf(place), metric });
    const lines = [
      `**${markdownCell(profile.name)}** \`${spec.replaceAll("`", "'")}\`: ${hot.viewTotal.text}`,
      "",
      "| self | | total | | function |",
      "| ---: | ---: | ---: | ---: | --- |",
      ...hot.places.map(
        (p) =>
          `| ${p.self.text} | ${p.self.shareText ?? ""} | ${p.total.text} | ${p.total.shareText ?? ""} | ${markdownCell(p.shortName ?? p.name)} |`,
      ),
    ];
    if (hot.remainder !== undefined) lines.push("", markdownCell(hot.remainder.text));
    copyText(app, lines.join("\n") + "\n", "A table in Markdown");
  } catch (error) {
    const text = app.explain(error);
    if (text !== undefined) app.say(text, "error");
  }
}

async function copyLink(app: App, fresh: Home["fresh"]): Promise<void> {
  if (fresh === undefined) return;
  const { link, letsIn } = await fresh();
  copyText(app, link, "The link", letsIn ? "; it is good once, within a minute" : "");
}

/** What opens a link as long as its file is there, whichever daemon runs then. */
export function commandOf(link: string): string {
  return `profd view '${link.replaceAll("'", "%27")}'`;
}

export const copyCommand = (app: App, link: string) => copyText(app, commandOf(link), "The command");

export function exportItems(app: App): MenuItem[] {
  const formats = (app.server?.formats ?? []).filter((format) => format.writes);
  const items: MenuItem[] = [];
  if (pictures !== undefined) {
    const { svg, png } = pictures;
    items.push(
      { text: "What is seen", heading: true },
      { text: "Picture, SVG", run: svg },
      { text: "Picture, PNG", run: png },
    );
  }
  items.push({ text: "This view", heading: true });
  if (formats.some((format) => format.id === "html"))
    items.push({ text: "Page that opens anywhere, HTML", run: () => void written(app, "html") });
  if (formats.some((format) => format.id === "csv"))
    items.push({ text: "Table, CSV", run: () => void written(app, "csv", "flat") });
  items.push({ text: "Copy the hottest as Markdown", icon: "copy", run: () => void markdown(app) });
  const { link, fresh } = app.home;
  if (link !== undefined)
    items.push(
      { text: "Copy the link", icon: "copy", run: () => void copyLink(app, fresh) },
      { text: "Copy the command that opens this view", icon: "copy", run: () => copyCommand(app, link()) },
    );
  items.push({ text: "The profile, as these filters leave it", heading: true });
  for (const format of formats)
    if (format.id !== "svg" && format.id !== "html" && format.id !== "csv")
      items.push({ text: format.title, run: () => void written(app, format.id) });
  return items;
}

export function useExportItems(): () => MenuItem[] {
  const app = useApp();
  return () => exportItems(app);
}
