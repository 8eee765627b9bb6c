import { expect, test } from "vitest";
import { isInside, parseLink } from "../src/link.js";

test("a link names a file by its absolute path", () => {
  expect(parseLink("/open", "file=/w/cpu.pprof")).toEqual({ path: "/w/cpu.pprof", function: undefined });
  expect(parseLink("/open", "file=/w/a%20b.pprof&function=main.run")).toEqual({
    path: "/w/a b.pprof",
    function: "main.run",
  });
});

test("anything else is refused", () => {
  expect(parseLink("/run", "file=/w/cpu.pprof")).toBe("unknown");
  expect(parseLink("/open", "")).toBe("no file");
  expect(parseLink("/open", "file=cpu.pprof")).toBe("no file");
  expect(parseLink("/open", "file=http://x/cpu.pprof")).toBe("no file");
  expect(parseLink("/open", "file=/w/a%00b")).toBe("no file");
});

test("a path is inside a folder once its dots are followed", () => {
  expect(isInside("/w/a/cpu.pprof", ["/v", "/w"])).toBe(true);
  expect(isInside("/w/../etc/passwd", ["/w"])).toBe(false);
  expect(isInside("/w2/cpu.pprof", ["/w"])).toBe(false);
  expect(isInside("/w", ["/w"])).toBe(false);
  expect(isInside("/w/cpu.pprof", [])).toBe(false);
});
