/** A formula: its source as text until the library is there, and where it is none. */

import { createContext, useContext, useEffect, useLayoutEffect, useRef, useState } from "react";

type Draw = (source: string, display: boolean, into: HTMLElement) => boolean;

/** Draws formulas at once, for a page that is written out and does not live on. */
export const DrawNow = createContext<Draw | null>(null);

export function Formula({ source, raw, display }: { source: string; raw: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  const now = useContext(DrawNow);
  useLayoutEffect(() => {
    if (now && place.current) setDrawn(now(source, display, place.current));
  }, [now, source, display]);
  useEffect(() => {
    if (now) return undefined;
    let shown = true;
    const draw = async () => {
      const { drawFormula } = await import("../../lib/math");
      if (shown && place.current) setDrawn(drawFormula(source, display, place.current));
    };
    // Without a connection the source stays.
    draw().catch(() => undefined);
    return () => {
      shown = false;
    };
  }, [now, source, display]);
  const both = (
    <>
      <span ref={place} hidden={!drawn} />
      {!drawn && <code>{raw.trim()}</code>}
    </>
  );
  return display ? (
    <span className="formula" tabIndex={0} role="group" aria-label="Formula">
      {both}
    </span>
  ) : (
    both
  );
}
