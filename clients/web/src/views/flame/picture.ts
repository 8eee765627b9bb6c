// The flame graph as it is seen, as a file.
import type { App } from "../../app.js";
import { canvasSurface } from "../../draw/canvas.js";
import { paint, type Frame } from "../../draw/paint.js";
import { svgSurface } from "../../draw/svg.js";
import { shown } from "../../draw/shown.js";
import { fileName, saveBlob, saveText } from "../../ui/copy.js";
import type { StageHandle } from "./stage.js";

const MAX_SIDE = 16_384;

/** All rows, not only those that fit on the screen. */
function wholeFrame(stage: StageHandle | undefined): Frame | undefined {
  const frame = stage?.frame();
  if (frame === undefined) return undefined;
  return { ...frame, top: 0, height: frame.layout.rows * frame.rowHeight, fade: 1, known: undefined };
}

const nameOfPicture = (app: App, ending: string) => `${fileName(app.profile.value?.name ?? "profile")}.${ending}`;

export function exportSvg(app: App, stage: StageHandle | undefined): void {
  const frame = wholeFrame(stage);
  if (frame === undefined) return;
  const surface = svgSurface("Verdana, DejaVu Sans, sans-serif", 12);
  paint(frame, surface);
  const title = `${shown(app.profile.value?.name ?? "")} · ${frame.layout.answer.spec}`;
  saveText(
    nameOfPicture(app, "svg"),
    surface.finish(frame.width, frame.height, frame.ink.ground, title),
    "image/svg+xml",
  );
}

export function exportPng(app: App, stage: StageHandle | undefined): void {
  const frame = wholeFrame(stage);
  if (frame === undefined) return;
  const ratio = Math.min(2, MAX_SIDE / frame.width, MAX_SIDE / frame.height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(frame.width * ratio);
  canvas.height = Math.round(frame.height * ratio);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  context.fillStyle = frame.ink.ground;
  context.fillRect(0, 0, frame.width, frame.height);
  context.font = "12px sans-serif";
  paint({ ...frame, ratio }, canvasSurface(context, ratio));
  canvas.toBlob((blob) => {
    if (blob === null) app.say("The picture is too large for this browser", "error");
    else saveBlob(nameOfPicture(app, "png"), blob);
  }, "image/png");
}
