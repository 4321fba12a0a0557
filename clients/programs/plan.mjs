// What every library's program does: many turns with tools, two edits and two answers made again. See plan.py.
const TURNS = Number(process.env.TURNS ?? 28);
const EDITS = [9, 18];
const BACK = 2;
const AGAIN = [5, 23];
export const { GATEWAY, MODEL } = process.env;
export const SYSTEM =
  "You check the logs of a plant. Read what is asked for, then answer in a sentence.";

export function log(number) {
  const lines = Array.from({ length: 14 }, (_, line) => {
    const valve = `V-${String(number).padStart(2, "0")}${line}`;
    return `Log ${number}, line ${line}: valve ${valve} reads ${(number * 7 + line * 13) % 100} bar`;
  });
  return lines.join("\n");
}

function question(turn, edited) {
  const told = edited.map((edit) => `new-branch-${edit}`);
  for (const edit of EDITS) {
    if (turn === edit - BACK && !edited.includes(edit)) told.push(`old-branch-${edit}`);
  }
  const order = String((turn * 37) % 1000).padStart(3, "0");
  return `Turn ${turn}: check part ${turn} of the plant. Order ${order}. ${told.join(" ")}`.trim();
}

// `ask` takes the history and a question, and gives the history with all that followed.
export async function converse(ask) {
  let history = [];
  const starts = {};
  const edited = [];
  let turn = 0;
  while (turn < TURNS) {
    starts[turn] = [...history];
    history = await ask([...history], question(turn, edited), turn);
    if (AGAIN.includes(turn)) history = await ask([...starts[turn]], question(turn, edited), turn);
    if (EDITS.includes(turn) && !edited.includes(turn)) {
      edited.push(turn);
      turn -= BACK;
      history = starts[turn];
      continue;
    }
    turn += 1;
  }
  console.log(`done: ${history.length} messages at the end`);
}
