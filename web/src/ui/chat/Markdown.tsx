/** Text as Markdown. Only a block that changed is made again, so that a long answer streams smoothly. */

import { memo, useMemo } from "react";
import type { Token } from "marked";
import { blocksOf } from "../../lib/markdown";
import { Tokens } from "./Tokens";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="prose">
      {blocks.map((block) => (
        <BlockView key={block.key} token={block.token} raw={block.raw} />
      ))}
    </div>
  );
});

const BlockView = memo(
  function BlockView({ token }: { token: Token; raw: string }) {
    return (
      <div className="block" dir="auto">
        <Tokens of={[token]} />
      </div>
    );
  },
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);
