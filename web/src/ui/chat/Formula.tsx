/** A formula: its source as text until the library is there, and where it is none. */

import { useEffect, useRef, useState } from "react";

export function Formula({ source, raw, display }: { source: string; raw: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
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
  }, [source, display]);
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
