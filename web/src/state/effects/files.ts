/** Attaching files: pictures as pictures, text as text, as providers take them; anything else is refused with a word. */

import { asPart, FileProblem, isPdf } from "../../lib/files";
import type { Attached } from "../../lib/entry";
import { readEntry, setEntry } from "./entry";
import { NEW } from "./drafts";
import { importFile, isExport } from "./transfer";
import { toast } from "./toast";

let made = 0;

/** Attach files; what is dropped on a new conversation and holds conversations is imported. */
export async function attach(key: string, files: Iterable<File>): Promise<void> {
  for (const file of [...files]) await (key === NEW && isExport(file) ? importFile(file) : attachOne(key, file));
}

async function attachOne(key: string, file: File): Promise<void> {
  if (isPdf(file)) toast({ tone: "info", text: "Reading the text…", detail: file.name });
  try {
    const part = await asPart(file);
    made += 1;
    const attached: Attached = { key: `${Date.now()}-${made}`, name: file.name || "image", part };
    setEntry(key, { files: [...readEntry(key).files, attached] });
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    toast({ tone: "error", text: error.message, detail: file.name });
  }
}

export function detach(key: string, file: string): void {
  setEntry(key, { files: readEntry(key).files.filter((one) => one.key !== file) });
}
