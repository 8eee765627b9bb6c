import { expect, test } from "vitest";
import { plain } from "../src/plain.js";

test("a name that looks like a link is none", () => {
  expect(plain("[+] [click](command:workbench.action.quit) +1 s")).toBe(
    "[+] [click] (command:workbench.action.quit) +1 s",
  );
  expect(plain("[+] main.parse(int) +1 s (+2 %)")).toBe("[+] main.parse(int) +1 s (+2 %)");
});
