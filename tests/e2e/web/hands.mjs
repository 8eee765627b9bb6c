// Hands on a flame graph: the same seed does the same, to what is on the page then.

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Hands {
  /** `known`: the box of whatever is touched, where that is one thing that does not move. */
  constructor(page, random, known) {
    this.page = page;
    this.random = random;
    this.known = known;
  }

  between(low, high) {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  oneOf(choices) {
    return choices[this.between(0, choices.length - 1)];
  }

  /** A place on what `selector` names; undefined: it is not on the page, or too small to be hit. */
  async place(selector) {
    const box = this.known ?? (await this.boxOf(selector));
    if (box === null || box.width < 8 || box.height < 8) return undefined;
    return { x: box.x + 3 + this.random() * (box.width - 6), y: box.y + 3 + this.random() * (box.height - 6) };
  }

  /** At once: what is not there is not waited for. */
  boxOf(selector) {
    return this.page.evaluate((found) => {
      const box = document.querySelector(found)?.getBoundingClientRect();
      return box === undefined ? null : { x: box.x, y: box.y, width: box.width, height: box.height };
    }, selector);
  }

  async moveTo(selector) {
    const at = await this.place(selector);
    if (at !== undefined) await this.page.mouse.move(at.x, at.y);
    return at;
  }

  async wheel(key, times, by) {
    if (key !== undefined) await this.page.keyboard.down(key);
    for (let i = 0; i < times; ++i) await this.page.mouse.wheel(0, by);
    if (key !== undefined) await this.page.keyboard.up(key);
  }

  /** Closer, along, and back by some: one turn of looking around. Gives how many interactions that was. */
  async lookAround(selector = ".stage") {
    if ((await this.moveTo(selector)) === undefined) return 0;
    await this.wheel("Control", this.between(4, 12), -100);
    const at = await this.moveTo(selector);
    if (at !== undefined) {
      await this.page.mouse.down();
      await this.page.mouse.move(at.x + this.between(-300, 300), at.y + this.between(-60, 60), { steps: 12 });
      await this.page.mouse.up();
    }
    await this.wheel("Shift", this.between(2, 6), this.oneOf([-80, 80]));
    await this.wheel(undefined, this.between(1, 4), this.oneOf([-60, 60]));
    await this.wheel("Control", this.between(2, 14), 100);
    return 5;
  }
}
