/** Keys of the page, in one place: what the shortcuts dialog lists is what works. */

export const APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);
const MOD = APPLE ? "⌘" : "Ctrl";

export interface Shortcut {
  keys: string[];
  does: string;
}

export const SHORTCUTS: Shortcut[] = [
  { keys: ["Enter"], does: "Send" },
  { keys: ["Shift", "Enter"], does: "New line" },
  { keys: ["Esc"], does: "Stop the answer" },
  { keys: ["↑"], does: "In an empty input: edit your last message" },
  { keys: ["Alt", "↑"], does: "What you sent before" },
  { keys: [MOD, "K"], does: "Find conversations and messages" },
  { keys: [MOD, "Shift", "O"], does: "New conversation" },
  { keys: [MOD, "P"], does: "Print the whole conversation" },
  { keys: ["/compress"], does: "Compress conversation history" },
  { keys: ["?"], does: "These shortcuts" },
];

export interface Bound {
  find: () => void;
  create: () => void;
  stop: () => void;
  help: () => void;
  print: () => void;
}

/** Tell what a key pressed anywhere in the page means. */
export function keyAction(event: KeyboardEvent): keyof Bound | null {
  const mod = APPLE ? event.metaKey : event.ctrlKey;
  const key = event.key.toLowerCase();
  if (mod && !event.shiftKey && key === "k") return "find";
  if (mod && !event.shiftKey && key === "p") return "print";
  if (mod && event.shiftKey && key === "o") return "create";
  if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]")) return "stop";
  if (event.key === "?" && !isTyping(event.target)) return "help";
  return null;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
