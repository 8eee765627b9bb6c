import { describe, expect, test } from "vitest";
import { findDaemon, skewOf } from "../src/daemon.js";

const look = (programs: readonly string[], setting = "", path = "/usr/bin:/opt/bin") =>
  findDaemon({ setting, path, bundled: "/ext/bin/profd", isProgram: (name) => programs.includes(name) });

describe("the daemon is found", () => {
  test("in the setting, before all others", () => {
    expect(look(["/mine/profd", "/usr/bin/profd"], "/mine/profd")).toEqual({ program: "/mine/profd", from: "setting" });
  });
  test("nowhere else when what is set is no program", () => {
    expect(look(["/usr/bin/profd", "/ext/bin/profd"], "/gone/profd")).toBeUndefined();
  });
  test("by a name that is set, on PATH", () => {
    expect(look(["/opt/bin/profd-next"], "profd-next")).toEqual({ program: "/opt/bin/profd-next", from: "setting" });
  });
  test("on PATH, before the one that came along", () => {
    expect(look(["/opt/bin/profd", "/ext/bin/profd"])).toEqual({ program: "/opt/bin/profd", from: "PATH" });
  });
  test("beside the extension", () => {
    expect(look(["/ext/bin/profd"])).toEqual({ program: "/ext/bin/profd", from: "extension" });
  });
  test("in no relative folder of PATH: it would be one of the project's", () => {
    expect(look(["bin/profd", "profd"], "", "bin::.")).toBeUndefined();
  });
});

test("one minor version apart is near enough", () => {
  expect(skewOf("0.3.0", "0.2.9")).toBeUndefined();
  expect(skewOf("0.3.0", "0.4.0")).toBeUndefined();
  expect(skewOf("0.3.0", "0.1.0")).toBe("daemon is older");
  expect(skewOf("0.3.0", "0.5.1")).toBe("extension is older");
  expect(skewOf("1.0.0", "0.9.0")).toBe("daemon is older");
  expect(skewOf("1.0.0", undefined)).toBeUndefined();
});
