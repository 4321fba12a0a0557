/** Why there is no answer, and what can be done about it. */

import { withTitle } from "../../../lib/provider";
import { useStore } from "../../../state/store";
import type { Trouble } from "../../../state/types";
import { AgainActions } from "./AgainActions";

export function FailureRow({ trouble }: { trouble: Trouble }) {
  const models = useStore((state) => state.models);
  return (
    <div className="failure" role="alert">
      <div>
        <strong>{withTitle(trouble.message, models)}</strong>
        {trouble.hint && <p>{trouble.hint}</p>}
      </div>
      {!trouble.unsent && <AgainActions />}
    </div>
  );
}
