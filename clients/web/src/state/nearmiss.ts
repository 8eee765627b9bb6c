// What someone meant who typed a word that is none of those there are; as core/support/near_miss.h.

/** The word that `given` is one slip away from, or the only one it begins. */
export function nearMiss(given: string, words: readonly string[]): string | undefined {
  const is = given.toLowerCase();
  const begun = words.filter((word) => word.startsWith(is));
  if (begun.length === 1) return begun[0];
  const slip = (word: string): boolean => {
    if (Math.abs(word.length - is.length) > 1) return false;
    let begin = 0;
    while (begin < word.length && begin < is.length && word[begin] === is[begin]) ++begin;
    const [w, g] = [word.slice(begin), is.slice(begin)];
    return (
      w.slice(1) === g.slice(1) ||
      w.slice(1) === g ||
      w === g.slice(1) ||
      (w.length > 1 && g.startsWith(w.charAt(1) + w.charAt(0)) && w.slice(2) === g.slice(2))
    );
  };
  return words.find(slip);
}
