/** Does something once after a rest, however often it was asked for. */
export class Later {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly afterMs: number,
    private readonly run: () => void,
  ) {}

  start(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.run();
    }, this.afterMs);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

export interface Disposes {
  dispose(): unknown;
}
