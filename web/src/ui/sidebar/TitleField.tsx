/** A title being changed: Enter keeps it, Esc does not. */

import { useEffect, useRef, useState } from "react";

const LONGEST = 500;
/** Characters the server takes. */

interface Props {
  title: string;
  name?: string;
  longest?: number;
  done: (title: string | null) => void;
}

export function TitleField({ title, name = "Title", longest = LONGEST, done }: Props) {
  const [text, change] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <input
      ref={field}
      className="title-field"
      aria-label={name}
      maxLength={longest}
      value={text}
      onChange={(event) => change(event.target.value)}
      onBlur={() => done(text.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.nativeEvent.isComposing) done(text.trim());
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        done(null);
      }}
    />
  );
}
