// A Surface that writes SVG: pictures for documents, from the same painting as the screen.
import type { Surface } from "./paint.js";

export function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

const short = (v: number) => String(Math.round(v * 100) / 100);

export interface SvgSurface extends Surface {
  finish(width: number, height: number, ground: string, title: string): string;
}

export function svgSurface(font: string, size: number): SvgSurface {
  const parts: string[] = [];
  let hatched: { ink: string; ground: string } | undefined;
  let alpha = "";
  return {
    rect(x, y, width, height, fill) {
      parts.push(
        `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escapeXml(fill)}"${alpha}/>`,
      );
    },
    edge(x, y, width, height, ink) {
      parts.push(
        `<rect x="${short(x + 0.5)}" y="${short(y + 0.5)}" width="${short(width - 1)}" height="${short(height - 1)}" fill="none" stroke="${escapeXml(ink)}" stroke-dasharray="3 2"${alpha}/>`,
      );
    },
    hatch(x, y, width, height, ink, ground) {
      hatched ??= { ink, ground };
      parts.push(
        `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="url(#h)"${alpha}/>`,
      );
    },
    text(x, y, text, fill) {
      parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${escapeXml(fill)}"${alpha}>${escapeXml(text)}</text>`);
    },
    alpha(value) {
      alpha = value < 1 ? ` opacity="${short(value)}"` : "";
    },
    finish(width, height, ground, title) {
      const pattern =
        hatched === undefined
          ? ""
          : `<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${escapeXml(hatched.ground)}"/><path d="M-1 7L7 -1" stroke="${escapeXml(hatched.ink)}"/></pattern></defs>`;
      return (
        `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}" font-family="${escapeXml(font)}" font-size="${size}" dominant-baseline="central">` +
        `<title>${escapeXml(title)}</title>${pattern}<rect width="100%" height="100%" fill="${escapeXml(ground)}"/>${parts.join("")}</svg>\n`
      );
    },
  };
}
