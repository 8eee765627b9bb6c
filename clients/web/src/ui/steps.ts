/** Where a key leads in a list whose row `at` is chosen, a page of which has `page` rows; undefined: nowhere. May lie outside. */
export function rowOfKey(key: string, at: number, page: number, count: number): number | undefined {
  switch (key) {
    case "ArrowDown":
    case "j":
      return at + 1;
    case "ArrowUp":
    case "k":
      return at - 1;
    case "PageDown":
      return at + page;
    case "PageUp":
      return at - page;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
