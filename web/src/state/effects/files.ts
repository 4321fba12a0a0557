/** Attaching files: pictures as pictures, text as text, as providers take them; anything else is refused with a word. */

import { asPart, FileProblem, isPdf } from "../../lib/files";
import type { Attached } from "../../lib/entry";
import type { Upload } from "../../lib/upload";
import { dispatch, state } from "../store";
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
  made += 1;
  const id = made;
  const stop = new AbortController();
  if (isPdf(file)) putUploads(key, [...uploadsOf(key), { id, name: file.name, share: 0, cancel: () => stop.abort() }]);
  const progress = (share: number) =>
    putUploads(key, uploadsOf(key).map((one) => (one.id === id ? { ...one, share } : one)));
  try {
    const part = await asPart(file, { progress, signal: stop.signal });
    const attached: Attached = { key: `${Date.now()}-${id}`, name: file.name || "image", part };
    setEntry(key, { files: [...readEntry(key).files, attached] });
  } catch (error) {
    if (stop.signal.aborted) return;
    if (!(error instanceof FileProblem)) throw error;
    toast({ tone: "error", text: error.message, detail: file.name });
  } finally {
    if (isPdf(file)) putUploads(key, uploadsOf(key).filter((one) => one.id !== id));
  }
}

const uploadsOf = (key: string): readonly Upload[] => state().uploads[key] ?? [];
const putUploads = (key: string, uploads: readonly Upload[]) => dispatch({ type: "draft/uploads", key, uploads });

export function detach(key: string, file: string): void {
  setEntry(key, { files: readEntry(key).files.filter((one) => one.key !== file) });
}
