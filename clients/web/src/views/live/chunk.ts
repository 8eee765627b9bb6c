// What city.js is made of: a script of its own, as its library is larger than all the rest of the page.
import { createScene } from "./scene.js";

(globalThis as { profdCity?: { createScene: typeof createScene } }).profdCity = { createScene };
