/** Why there is no answer, and what can be done about it. */

import { retry } from "../../../state/effects/turns";
import type { Trouble } from "../../../state/types";
import { Icon } from "../../kit/Icon";

export function FailureRow({ trouble }: { trouble: Trouble }) {
  return (
    <div className="failure" role="alert">
      <div>
        <strong>{trouble.message}</strong>
        {trouble.hint && <p>{trouble.hint}</p>}
      </div>
      {!trouble.unsent && (
        <button type="button" className="button small" onClick={retry}>
          <Icon name="retry" />
          Try again
        </button>
      )}
    </div>
  );
}
