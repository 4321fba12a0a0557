/** Who said a line. */

export const SPEAKERS: Record<string, string> = {
  user: "You",
  assistant: "Answer",
  system: "System",
  call: "Call",
  result: "Result",
};
