/** A file that came with a message: its name, and its text for whoever wants to see it. */

import { useState } from "react";
import { short } from "../../../lib/format";
import { textOf } from "../../../lib/files";

interface Props {
  name: string;
  kind: string;
  size: number | undefined;
  source: string | undefined;
}

export function AttachedFile({ name, kind, size, source = "" }: Props) {
  const [open, setOpen] = useState(false);
  const about = size ? `${short(size)} bytes` : kind;
  const words = (
    <>
      <bdi className="file-name">{name}</bdi> {about}
    </>
  );
  if (!source.startsWith("data:text/")) return <p className="file">{words}</p>;
  return (
    <details className="collapsed" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words}</summary>
      {open && <pre tabIndex={0}>{textOf(source) ?? "This file cannot be read."}</pre>}
    </details>
  );
}
