// Commands as they are typed, and as the words that a program gets: no shell is between them.

/** The words, or what keeps the line from being words alone. */
export type Words = { readonly words: readonly string[] } | { readonly needsShell: string };

const SHELL = /^(?:[|&;<>()`]|\$[({])/;

/** Quotes and backslashes as a shell reads them; variables, pipes and the like are a shell's, and refused. */
export function wordsOf(line: string): Words {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < line.length) {
    const char = line.charAt(at);
    const needed = SHELL.exec(line.slice(at));
    if (char === "'" || char === '"') {
      const end = endOfQuote(line, at);
      if (end === undefined) return { needsShell: char };
      word = (word ?? "") + unquoted(line.slice(at + 1, end), char);
      at = end;
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (needed !== null) {
      return { needsShell: needed[0] };
    } else if (char === "\\") {
      word = (word ?? "") + line.charAt(++at);
    } else {
      word = (word ?? "") + char;
    }
    ++at;
  }
  if (word !== undefined) words.push(word);
  return { words };
}

function endOfQuote(line: string, begin: number): number | undefined {
  const quote = line.charAt(begin);
  for (let at = begin + 1; at < line.length; ++at) {
    if (quote === '"' && line.charAt(at) === "\\") ++at;
    else if (line.charAt(at) === quote) return at;
  }
  return undefined;
}

function unquoted(text: string, quote: string): string {
  return quote === "'" ? text : text.replace(/\\(["\\$`])/g, "$1");
}

/** One line that reads as these words. */
export function typed(words: readonly string[]): string {
  return words.map((word) => (/^[\w\-./=:,+@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
