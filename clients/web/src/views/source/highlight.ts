// Source text as lines of coloured HTML. highlight.js escapes what it is given; a span that goes over a line's end is
// closed there and opened again.
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import lua from "highlight.js/lib/languages/lua";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import typescript from "highlight.js/lib/languages/typescript";
import { escapeXml } from "../../draw/svg.js";
import { shown } from "../../draw/shown.js";

hljs.registerLanguage("cpp", cpp);
hljs.registerLanguage("go", go);
hljs.registerLanguage("java", java);
hljs.registerLanguage("lua", lua);
hljs.registerLanguage("python", python);
hljs.registerLanguage("rust", rust);
hljs.registerLanguage("typescript", typescript);

const ENDINGS: Readonly<Record<string, string>> = {
  c: "cpp",
  h: "cpp",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  hpp: "cpp",
  hh: "cpp",
  go: "go",
  java: "java",
  kt: "java",
  scala: "java",
  lua: "lua",
  py: "python",
  pyx: "python",
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  js: "typescript",
  jsx: "typescript",
  mjs: "typescript",
};

/** Colouring is a comfort: a text larger than this is shown without. */
const MAX_COLOURED = 400_000;

const languageOf = (path: string) => ENDINGS[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];

/** A text of a language that is known here. */
export const isSource = (path: string) => languageOf(path) !== undefined;

export function linesOf(text: string, path: string): string[] {
  const clean = text.split(/\r\n|\r|\n/).map((line) => line.split("\t").map(shown).join("\t"));
  const language = languageOf(path);
  if (language === undefined || text.length > MAX_COLOURED) return clean.map(escapeXml);
  const html = hljs.highlight(clean.join("\n"), { language, ignoreIllegals: true }).value;
  const out: string[] = [];
  let open: string[] = [];
  for (const line of html.split("\n")) {
    const before = open.join("");
    for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? [])
      open = tag === "</span>" ? open.slice(0, -1) : [...open, tag];
    out.push(before + line + "</span>".repeat(open.length));
  }
  return out;
}
