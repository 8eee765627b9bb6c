// Loads the part that draws in three dimensions, once, when it is first wanted.
import type { createScene } from "./scene.js";

export interface CityChunk {
  readonly createScene: typeof createScene;
}

let asked: Promise<CityChunk> | undefined;

/** Beside the page's own script, wherever that is; fails where it cannot be had. */
export function loadScene(): Promise<CityChunk> {
  asked ??= new Promise<CityChunk>((resolve, reject) => {
    const own = [...document.scripts].find(({ src }) => /\/app\.js(\?|$)/.test(src));
    const script = document.createElement("script");
    script.src = (own?.src ?? "app.js").replace(/app\.js/, "city.js");
    // An editor's page lets in scripts that have its word.
    if (own?.nonce !== undefined && own.nonce !== "") script.nonce = own.nonce;
    script.onload = () => {
      const chunk = (globalThis as { profdCity?: CityChunk }).profdCity;
      if (chunk === undefined) reject(new Error("city.js is not what was expected"));
      else resolve(chunk);
    };
    script.onerror = () => reject(new Error("city.js could not be loaded"));
    document.head.append(script);
  });
  asked.catch(() => (asked = undefined));
  return asked;
}
