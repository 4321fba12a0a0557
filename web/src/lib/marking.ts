/** Marks words in what is on screen without touching it, where the browser can do that. */

const NAME = "found";

export function markWords(root: HTMLElement | null, query: string): void {
  if (!("highlights" in CSS)) return;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!root || words.length === 0) {
    CSS.highlights.delete(NAME);
    return;
  }
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const text = node.data.toLowerCase();
    // Some letters get longer when they are made small: their places would be wrong.
    if (text.length === node.data.length) for (const word of words) ranges.push(...rangesOf(node, text, word));
  }
  CSS.highlights.set(NAME, new Highlight(...ranges));
}

function* rangesOf(node: Text, text: string, word: string): Generator<Range> {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    const range = new Range();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    yield range;
  }
}
