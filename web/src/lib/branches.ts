/** A tree of messages as a tree of stretches: what follows without a fork is one of them. */

import type { TreeNode } from "../api/types";

export interface Stretch {
  nodes: TreeNode[];
  below: Stretch[];
}

/** Give the stretches from the roots on. No recursion: a conversation may be very deep. */
export function stretchesOf(nodes: readonly TreeNode[]): Stretch[] {
  const children = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    const others = children.get(node.parent);
    if (others) others.push(node);
    else children.set(node.parent, [node]);
  }
  const roots: Stretch[] = [];
  const waiting = (children.get(null) ?? []).map((node) => ({ node, into: roots }));
  // Grows while it is gone through.
  for (const { node, into } of waiting) {
    const stretch: Stretch = { nodes: [node], below: [] };
    into.push(stretch);
    let after = children.get(node.id) ?? [];
    while (after.length === 1) {
      stretch.nodes.push(after[0]!);
      after = children.get(after[0]!.id) ?? [];
    }
    for (const one of after) waiting.push({ node: one, into: stretch.below });
  }
  return roots;
}

/** The ids from the root to a node. */
export function pathTo(nodes: readonly TreeNode[], tip: string | null): Set<string> {
  const parents = new Map(nodes.map((node) => [node.id, node.parent]));
  const path = new Set<string>();
  for (let at: string | null | undefined = tip; at; at = parents.get(at)) path.add(at);
  return path;
}
