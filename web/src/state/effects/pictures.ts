/** Pictures that are too large to come with their messages; each is fetched once while the page is open. */

import * as api from "../../api/client";
import { Problem } from "../../api/problem";

const addresses = new Map<string, Promise<string | null>>();

export function loadPicture(conversation: string, message: string, part: number): Promise<string | null> {
  const key = `${message}/${part}`;
  const known = addresses.get(key) ?? fetched(conversation, message, part);
  addresses.set(key, known);
  return known;
}

async function fetched(conversation: string, message: string, part: number): Promise<string | null> {
  try {
    return URL.createObjectURL(await api.readPicture(conversation, message, part));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    addresses.delete(`${message}/${part}`);
    return null;
  }
}

/** A picture as text, to be put into a file; null: it cannot be had. */
export async function readPicture(conversation: string, message: string, part: number): Promise<string | null> {
  try {
    const picture = await api.readPicture(conversation, message, part);
    return await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onloadend = () => resolve(typeof reader.result === "string" ? reader.result : null);
      reader.readAsDataURL(picture);
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return null;
  }
}
