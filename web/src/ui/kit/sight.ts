/** What opens in the timeline may be taller than the screen, and the timeline keeps its end in sight: its line is what is wanted. */

interface Options {
  then?: () => void;
  /** Only when the line has gone out of sight: else it stays where it is. */
  lost?: boolean;
}

const LINE = 40;
/** Pixels of a line: of one that begins lower nobody sees anything. */

export function keepInSight(row: { current: HTMLElement | null }, { then, lost = false }: Options = {}): () => void {
  // Not `scrollIntoView`, which moves the whole page too.
  const scroll = () => {
    const log = row.current?.closest(".timeline");
    const away = row.current && log ? row.current.getBoundingClientRect().top - log.getBoundingClientRect().top : 0;
    const seen = log && away >= 0 && away < log.clientHeight - LINE;
    if (log && !(lost && seen)) log.scrollTop += away;
    then?.();
  };
  // Two frames: in the first the row is measured and the timeline moves.
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(scroll);
  });
  return () => cancelAnimationFrame(frame);
}
