/** Why there is no answer, and what can be done about it. */

import type { Trouble } from "../../../state/types";
import { AgainActions } from "./AgainActions";

export function FailureRow({ trouble }: { trouble: Trouble }) {
  return (
    <div className="failure" role="alert">
      <div>
        <strong>{trouble.message}</strong>
        {trouble.hint && <p>{trouble.hint}</p>}
      </div>
      {!trouble.unsent && <AgainActions />}
    </div>
  );
}
