/** The branches of a conversation as a tree: the one that is shown is marked, a click shows another. */

import { useEffect, useState } from "react";
import type { Tree } from "../../api/types";
import { pathTo, stretchesOf, type Stretch } from "../../lib/branches";
import { checkout } from "../../state/effects/branches";
import { reveal } from "../../state/effects/reveal";
import { loadTree } from "../../state/effects/tree";
import { useStore } from "../../state/store";
import { closeDialog, Dialog } from "../kit/Dialog";

const NAMES = { user: "You", assistant: "Answer", system: "System", tool: "Tool" } as const;

export function BranchesDialog() {
  const id = useStore((state) => state.chat?.id) ?? "";
  const tip = useStore((state) => state.chat?.messages.at(-1)?.id ?? null);
  const [tree, setTree] = useState<Tree | null>(null);
  useEffect(() => void loadTree(id).then(setTree), [id]);
  const nodes = tree?.nodes ?? [];
  return (
    <Dialog title="Branches" wide>
      <p className="lead">
        Editing a message or asking for another answer starts a branch. All of them are kept; one is shown.
      </p>
      {tree && nodes.length === 0 && <p className="lead">Nothing was said here yet.</p>}
      {nodes.length > 0 && <Branches id={id} stretches={stretchesOf(nodes)} path={pathTo(nodes, tip)} />}
      {tree && !tree.complete && <p className="lead">The conversation is larger than this tree shows.</p>}
    </Dialog>
  );
}

interface Props {
  id: string;
  stretches: Stretch[];
  path: Set<string>;
}

/** What goes on stands below what it follows, and only what leads elsewhere is set in: a long talk stays a column. */
function Branches({ id, stretches, path }: Props) {
  const on = (one: Stretch) => path.has(one.nodes[0]!.id);
  return (
    <ul className="branches">
      {stretches.flatMap((start) => lineOf(start, on)).map(({ stretch, others }) => (
        <li key={stretch.nodes[0]!.id}>
          <BranchButton id={id} stretch={stretch} shown={on(stretch)} />
          {others.length > 0 && <Branches id={id} stretches={others} path={path} />}
        </li>
      ))}
    </ul>
  );
}

/** Follow the branch that is shown, else the newest, to its end; with what leads elsewhere at each fork. */
function lineOf(start: Stretch, on: (one: Stretch) => boolean): { stretch: Stretch; others: Stretch[] }[] {
  const line = [];
  for (let at: Stretch | undefined = start; at; ) {
    const next: Stretch | undefined = at.below.find(on) ?? at.below.at(-1);
    line.push({ stretch: at, others: at.below.filter((one) => one !== next) });
    at = next;
  }
  return line;
}

function BranchButton({ id, stretch, shown }: { id: string; stretch: Stretch; shown: boolean }) {
  const first = stretch.nodes[0]!;
  const last = stretch.nodes.at(-1)!;
  const show = () => {
    closeDialog();
    void (shown ? reveal(id, first.id, first.depth) : checkout(id, first.id));
  };
  return (
    <button type="button" className={shown ? "branch shown" : "branch"} aria-current={shown || undefined} onClick={show}>
      <Words role={NAMES[first.role]} text={first.preview} />
      {last !== first && <Words role={NAMES[last.role]} text={last.preview} />}
    </button>
  );
}

function Words({ role, text }: { role: string; text: string }) {
  return (
    <span className="branch-words">
      <b>{role}</b> <bdi>{text || "…"}</bdi>
    </span>
  );
}
