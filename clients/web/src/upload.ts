// A dropped file goes to the daemon in pieces, one after the other, and to nobody else.
import {
  DiffScale,
  ProfileDiffRequest,
  UploadBeginRequest,
  UploadCancelRequest,
  UploadEndRequest,
  UploadPieceRequest,
} from "../../shared/ts/psp.js";
import { comparableOf, type App } from "./app.js";

const CHUNK = 0x8000;

export function base64Of(bytes: Uint8Array): string {
  let text = "";
  // As arguments of one call a megabyte of bytes would not fit on the stack.
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/** Sends a file; gives what it is called there, or says why it is not. */
async function upload(app: App, file: File): Promise<{ id: string; uri: string } | undefined> {
  const { client } = app;
  const controller = new AbortController();
  const { signal } = controller;
  let begun: string | undefined;
  try {
    const { upload: id, pieceBytes } = await client.request(
      UploadBeginRequest,
      { name: file.name, size: file.size },
      signal,
    );
    begun = id;
    const tell = (sent: number) =>
      (app.loading.value = {
        title: `Sending ${file.name} to the daemon`,
        message: "It stays on this machine, or the one that the daemon runs on.",
        percentage: file.size === 0 ? undefined : (sent / file.size) * 100,
        cancel: () => controller.abort(),
      });
    tell(0);
    for (let offset = 0; offset < file.size;) {
      const piece = new Uint8Array(await file.slice(offset, offset + pieceBytes).arrayBuffer());
      const { received } = await client.request(
        UploadPieceRequest,
        { upload: id, offset, base64: base64Of(piece) },
        signal,
      );
      if (received <= offset) throw new Error(`${file.name}: the daemon took nothing at byte ${offset}`);
      offset = received;
      tell(offset);
    }
    const { uri } = await client.request(UploadEndRequest, { upload: id }, signal);
    return { id: begun, uri };
  } catch (error) {
    if (begun !== undefined) void client.request(UploadCancelRequest, { upload: begun }).catch(() => undefined);
    const message = signal.aborted ? `${file.name} was not sent: you cancelled it` : app.explain(error);
    if (message !== undefined) app.say(message, signal.aborted ? "info" : "error");
    return undefined;
  } finally {
    app.loading.value = undefined;
  }
}

/** A file that the daemon has read. */
export interface Sent {
  readonly uri: string;
  readonly name: string;
}

/** Sends files and has them read; gives those that are profiles. What is wrong with the others is said. */
export async function sendAll(app: App, files: readonly File[]): Promise<readonly Sent[]> {
  if (!app.can(UploadBeginRequest.method)) {
    app.say("This daemon takes no files from the page: open the file by its path", "warning");
    return [];
  }
  const read: Sent[] = [];
  for (const file of files) {
    const sent = await upload(app, file);
    if (sent === undefined) continue;
    // Read before it is shown: what is on the page stays when it is no profile.
    if (await app.read(sent.uri, file.name)) read.push({ uri: sent.uri, name: file.name });
    else if (!app.canBeReadInPart(sent.uri))
      void app.client.request(UploadCancelRequest, { upload: sent.id }).catch(() => undefined);
  }
  return read;
}

/** Opens the last of them; two can be compared, and that is offered. */
export async function uploadAll(app: App, files: readonly File[]): Promise<void> {
  const sent = await sendAll(app, files);
  const last = sent.at(-1);
  if (last === undefined) return;
  app.open(last.uri);
  const [one, two, ...more] = sent;
  if (one === undefined || two === undefined || more.length > 0 || !app.can(ProfileDiffRequest.method)) return;
  app.say(`${one.name} and ${two.name} were read`, "info", {
    text: "Compare them",
    run: () =>
      (app.comparing.value = { before: [comparableOf(one)], after: [comparableOf(two)], scale: DiffScale.automatic }),
  });
}
