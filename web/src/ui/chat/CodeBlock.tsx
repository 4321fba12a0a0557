/** Code, coloured, with a button that copies it. */

import { highlight } from "../../lib/highlight";
import { useCopied } from "../kit/useCopied";

const NAME = /^[\w+#.-]+/;

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const [copied, copy] = useCopied(() => code);
  const name = NAME.exec(language)?.[0] ?? "";
  return (
    <figure className="code">
      <figcaption>
        <span>{name || "text"}</span>
        <button type="button" onClick={copy}>
          {copied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {highlight(code, name).map(([kind, text], index) =>
            kind ? (
              <span key={index} className={`hl-${kind}`}>
                {text}
              </span>
            ) : (
              text
            ),
          )}
        </code>
      </pre>
    </figure>
  );
}
