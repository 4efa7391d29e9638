// Finds things by a few letters of their names. The best match comes first.

export interface Found {
  noun: string;
  id: string;
  title: string;
}

/**
 * Returns the rank of an entry, or a negative number without a match. Every word must occur in the entry. An id that
 * begins with the typed text ranks before a word inside a title.
 */
const rank = (entry: Found, words: readonly string[]): number => {
  const id = entry.id.toLowerCase();
  const title = entry.title.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (id === word) sum += 100;
    else if (id.startsWith(word)) sum += 60 - Math.min(20, id.length - word.length);
    else if (title.startsWith(word)) sum += 35;
    else if (id.includes(word)) sum += 30;
    else if (title.includes(` ${word}`)) sum += 25;
    else if (title.includes(word)) sum += 10;
    else if (entry.noun.startsWith(word)) sum += 5;
    else return -1;
  }
  return sum;
};

export const found = <T extends Found>(entries: readonly T[], text: string, limit: number): T[] => {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return entries.slice(0, limit);
  return entries
    .map((entry, index) => ({ entry, index, rank: rank(entry, words) }))
    .filter((one) => one.rank >= 0)
    .sort((a, b) => b.rank - a.rank || a.index - b.index)
    .slice(0, limit)
    .map((one) => one.entry);
};

/**
 * Returns the query of a typed text for the daemon's search. A word at the end may still be unfinished, so it finds all
 * words that begin with it. Texts of one letter find nothing.
 */
export const queryOf = (text: string): string => {
  const query = text.trim();
  if (query.length < 2) return "";
  const unfinished = /(^|\s)-?[\p{L}\p{N}]{2,}$/u;
  return unfinished.test(query) && query === text ? `${query}*` : query;
};
