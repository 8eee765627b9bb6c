// Work for a page that somebody can see. Behind another tab it would only take from what is looked at.

export class WhenSeen {
  private readonly waiting = new Map<string, () => void>();

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      const due = [...this.waiting.values()];
      this.waiting.clear();
      for (const run of due) run();
    });
  }

  /** Now, or when the page is seen again: of several of one key the last. */
  do(key: string, run: () => void): void {
    if (!document.hidden) {
      run();
      return;
    }
    this.waiting.delete(key);
    this.waiting.set(key, run);
  }
}
