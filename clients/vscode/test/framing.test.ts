import { expect, test } from "vitest";
import { Frames, frame } from "../src/framing.js";

const TEXTS = ['{"a":1}', "", '{"name":"größer → 関数"}', "x".repeat(70_000)];

test("messages come out as they went in, however the bytes are cut", () => {
  const bytes = Buffer.concat(TEXTS.map(frame));
  for (const step of [1, 2, 7, 1000, 65_536, bytes.length]) {
    const frames = new Frames();
    const got: string[] = [];
    for (let at = 0; at < bytes.length; at += step) got.push(...frames.push(bytes.subarray(at, at + step)));
    expect(got).toEqual(TEXTS);
  }
});

test("further header lines are passed over", () => {
  const frames = new Frames();
  expect(frames.push(Buffer.from("Content-Type: x\r\nContent-Length: 2\r\n\r\n{}"))).toEqual(["{}"]);
});
