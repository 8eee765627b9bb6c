// Answers that were given: a second look at the same view costs nothing, within a bound.

export class Answers {
  private readonly kept = new Map<string, unknown>();
  constructor(private readonly limit: number) {}

  get(key: string): unknown {
    const value = this.kept.get(key);
    if (value !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, value);
    }
    return value;
  }

  put(key: string, value: unknown): void {
    this.kept.delete(key);
    this.kept.set(key, value);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.limit) break;
      this.kept.delete(oldest);
    }
  }

  clear(): void {
    this.kept.clear();
  }
}
