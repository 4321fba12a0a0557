/** Providers by the names people know: what went wrong begins with the name that programs use. */

import type { Models } from "../api/types";

const BEGINS = /^[a-z][\w-]*(?=:| answered )/;

export const titleOfProvider = (name: string, models: Models | null): string =>
  models?.providers.find((one) => one.provider === name)?.title ?? name;

/** What a provider said, with its name as people write it. */
export const withTitle = (said: string, models: Models | null): string =>
  said.replace(BEGINS, (name) => titleOfProvider(name, models));

/** Who is meant by something that went wrong; empty: nobody in particular. */
export const speakerOf = (said: string, models: Models | null): string => {
  const name = BEGINS.exec(said)?.[0];
  return name ? titleOfProvider(name, models) : "";
};
