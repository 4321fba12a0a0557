/** The labels there are: a press shows only the conversations that have one. Without labels there is nothing. */

import { useEffect } from "react";
import { chooseLabel, loadLabels } from "../../state/effects/conversations";
import { useStore } from "../../state/store";

export function LabelBar() {
  const { label, labels } = useStore((state) => state.conversations);
  useEffect(() => void loadLabels(), []);
  if (labels.length === 0) return null;
  return (
    <div className="label-bar" role="group" aria-label="Labels">
      {labels.map((one) => (
        <button
          key={one}
          type="button"
          className="label"
          aria-pressed={one === label}
          onClick={() => void chooseLabel(one === label ? "" : one)}
        >
          <bdi>{one}</bdi>
        </button>
      ))}
    </div>
  );
}
