import { expect, test } from "vitest";
import { listsProfiles } from "../src/project.js";

test("a project lists profiles with a key at its top, and nowhere else", () => {
  expect(listsProfiles('metric = "cpu"\nprofiles = ["cpu.pprof"]')).toBe(true);
  expect(listsProfiles('"profiles"=["cpu.pprof"]\r\n')).toBe(true);
  expect(listsProfiles('# profiles = ["cpu.pprof"]')).toBe(false);
  expect(listsProfiles('[[map]]\nprofiles = ["x"]')).toBe(false);
  expect(listsProfiles("")).toBe(false);
});
