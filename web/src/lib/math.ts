/** Formulas. Loaded only where a text has one: the library and its fonts weigh more than the rest of the page. */

import katex from "katex";
import "katex/dist/katex.min.css";

const WIDEST = 40;
/** Ems of the largest size that a formula may ask for. */

/** Draw a formula into an element; false: it is none, and the element is as it was. */
export const drawFormula = (source: string, display: boolean, into: HTMLElement): boolean =>
  draw(source, display, into, "htmlAndMathml");

/** The same for a page that brings no fonts: the browser sets it. */
export const drawAlone = (source: string, display: boolean, into: HTMLElement): boolean =>
  draw(source, display, into, "mathml");

function draw(source: string, displayMode: boolean, into: HTMLElement, output: "htmlAndMathml" | "mathml"): boolean {
  try {
    // Nothing of a message is trusted: no links, no pictures, no classes or styles of its own.
    katex.render(source, into, { displayMode, output, throwOnError: true, trust: false, strict: "ignore", maxSize: WIDEST });
    return true;
  } catch {
    return false;
  }
}
