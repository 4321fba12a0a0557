/** Copies a text, and knows for a moment that it did. */

import { useState } from "react";

const SAID_FOR = 1_600;
/** Milliseconds it is said that something was copied. */

/** What is copied may have to be fetched first; null: it could not be. */
export type Words = () => string | Promise<string | null>;

export function useCopied(words: Words): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const text = await words();
    if (text === null) return;
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SAID_FOR);
  };
  return [copied, () => void copy()];
}
