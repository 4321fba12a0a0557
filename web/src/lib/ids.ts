/** Ids as the server makes them: uuid7, 32 hex digits, the time first. */

const TIME = 12;
const RANDOM = 10;

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM));
  const random = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const variant = (8 + (bytes[2]! & 3)).toString(16);
  return `${Date.now().toString(16).padStart(TIME, "0")}7${random.slice(0, 3)}${variant}${random.slice(5)}`;
}
