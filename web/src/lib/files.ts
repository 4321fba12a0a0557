/** From a file of the user's to a part of a message. */

import { readDocument } from "../api/client";
import type { Sending } from "../api/http";
import { Problem } from "../api/problem";
import type { PartIn } from "../api/types";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** What every provider with eyes takes. */
const LARGEST = 15 * 1024 * 1024;
/** Bytes: written as text it is a third more, and the server takes 32 MiB at a time. */
const CHUNK = 0x8000;
/** Bytes that can be given to one call as arguments. */

export class FileProblem extends Error {}

export async function asPart(file: File, sending: Sending): Promise<PartIn> {
  if (file.size > LARGEST) throw new FileProblem("This file is larger than 15 MB.");
  if (isPdf(file)) return document(file, sending);
  const bytes = new Uint8Array(await file.arrayBuffer());
  return PICTURES.includes(file.type) ? picture(file, bytes) : text(file, bytes);
}

export const isPdf = (file: File): boolean => file.type === "application/pdf" || /\.pdf$/i.test(file.name);

/** The server reads it; what is sent, and counted, is its text. */
async function document(file: File, sending: Sending): Promise<PartIn> {
  try {
    const { name, text } = await readDocument(file, sending);
    const bytes = new TextEncoder().encode(text);
    return { type: "attachment", name, media_type: "text/plain", size: bytes.length, source: dataUrl("text/plain", bytes) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new FileProblem(error.detail.message);
  }
}

async function picture(file: File, bytes: Uint8Array): Promise<PartIn> {
  try {
    const { width, height } = await createImageBitmap(file);
    return { type: "image", source: dataUrl(file.type, bytes), media_type: file.type, width, height };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new FileProblem("This picture cannot be read.");
  }
}

function text(file: File, bytes: Uint8Array): PartIn {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new FileProblem("Only pictures, PDFs and text files can be attached.");
  }
  // A drawing in SVG is text too, and would be taken for a picture by its name.
  const kind = file.type.startsWith("text/") ? file.type : "text/plain";
  return { type: "attachment", name: file.name, media_type: kind, size: file.size, source: dataUrl(kind, bytes) };
}

function dataUrl(kind: string, bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    characters += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return `data:${kind};base64,${btoa(characters)}`;
}

/** The text of a text file that came with a message; null when it is no text, or not there. */
export function textOf(source: string): string | null {
  const found = /^data:text\/[^,]*;base64,/.exec(source);
  if (!found) return null;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(source.slice(found[0].length)), (one) => one.charCodeAt(0)));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return null;
  }
}
