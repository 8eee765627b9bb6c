// LSP's framing, for messages that are passed on as they are.

export function frame(text: string): Buffer {
  const body = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]);
}

/** Takes bytes as they come, gives whole messages. */
export class Frames {
  private chunks: Buffer[] = [];
  private size = 0;
  /** Bytes that are needed before there is anything to look at. */
  private wanted = 1;

  push(chunk: Buffer): string[] {
    this.chunks.push(chunk);
    this.size += chunk.length;
    const messages: string[] = [];
    while (this.size >= this.wanted) {
      const all = this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks, this.size);
      if (all === undefined) break;
      this.chunks = [all];
      const end = all.indexOf("\r\n\r\n");
      if (end < 0) {
        this.wanted = this.size + 1;
        break;
      }
      const length = /content-length: *(\d+)/i.exec(all.toString("ascii", 0, end))?.[1];
      const body = end + 4;
      const next = body + Number(length ?? 0);
      if (this.size < next) {
        this.wanted = next;
        break;
      }
      messages.push(all.toString("utf8", body, next));
      this.chunks = [all.subarray(next)];
      this.size -= next;
      this.wanted = 1;
    }
    return messages;
  }
}
