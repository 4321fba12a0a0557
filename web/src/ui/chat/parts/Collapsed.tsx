/** Something that is there for whoever wants to see it. */

import type { ReactNode } from "react";

export function Collapsed({ title, name = "", children }: { title: string; name?: string; children: ReactNode }) {
  return (
    <details className="collapsed">
      <summary>
        {title} {name && <bdi className="mono">{name}</bdi>}
      </summary>
      {children}
    </details>
  );
}
