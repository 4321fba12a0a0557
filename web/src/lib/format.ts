/** Numbers and dates as people read them. Never computes a number: it writes what it is given. */

const NUMBER = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const DAY = 86_400_000;

export const count = (value: number): string => NUMBER.format(value);
export const short = (value: number): string => SHORT.format(value).toLowerCase();
export const percent = (value: number): string => `${PERCENT.format(value)} %`;
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** How sure a count is, in a word: the model's own tokenizer knows the words, not what the provider adds to them. */
export const certainty = (reading: { basis: string; error_bound: number }): string =>
  reading.basis === "exact" && reading.error_bound > 0 ? "counted" : reading.basis;

const CENTS = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const LITTLE = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 2 });
const SECONDS = new Intl.NumberFormat("en", { style: "unit", unit: "second", maximumFractionDigits: 1 });
/** As the server writes them in its sentences: cents, and of less than ten of them two digits. */
export const dollars = (value: number): string => (value >= 0.1 || value === 0 ? CENTS : LITTLE).format(value);
export const seconds = (value: number): string => SECONDS.format(value);

/** The heading a conversation is listed under. */
export function period(date: string, now = new Date()): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const then = new Date(date).getTime();
  if (then >= midnight) return "Today";
  if (then >= midnight - DAY) return "Yesterday";
  if (then >= midnight - 7 * DAY) return "Last seven days";
  return new Date(date).toLocaleDateString("en", { month: "long", year: "numeric" });
}

/** When something happened, as one says it: today by the hour, this week by the day, else by the date. */
export function when(date: string, now = new Date()): string {
  const then = new Date(date);
  const age = now.getTime() - then.getTime();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === now.toDateString()) return `today ${time}`;
  if (age >= 0 && age < 6 * DAY) return `${then.toLocaleDateString("en", { weekday: "long" })} ${time}`;
  const year = then.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...year })}, ${time}`;
}

/** A day, as one says it; what is no date stays as it is. */
export function day(date: string): string {
  const then = new Date(`${date}T12:00`);
  if (Number.isNaN(then.getTime())) return date;
  return `${then.getDate()} ${then.toLocaleDateString("en", { month: "short" })} ${then.getFullYear()}`;
}

export function moment(date: string): string {
  return new Date(date).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** With a capital first letter, as a sentence begins. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
