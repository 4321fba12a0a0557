/** Formulas. Loaded only where a text has one: the library and its fonts weigh more than the rest of the page. */

import katex from "katex";
import "katex/dist/katex.min.css";

const WIDEST = 40;
/** Ems of the largest size that a formula may ask for. */

/** Draw a formula into an element; false: it is none, and the element is as it was. */
export function drawFormula(source: string, display: boolean, into: HTMLElement): boolean {
  try {
    // Nothing of a message is trusted: no links, no pictures, no classes or styles of its own.
    katex.render(source, into, { displayMode: display, throwOnError: true, trust: false, strict: "ignore", maxSize: WIDEST });
    return true;
  } catch {
    return false;
  }
}
