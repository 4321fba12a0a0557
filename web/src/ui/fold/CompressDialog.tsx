/** Summarize by hand: the plan, then the work, then how it ended. Closing it while it works does not stop it. */

import { forgetCompression } from "../../state/effects/fold";
import { useStore } from "../../state/store";
import { closeDialog } from "../kit/Dialog";
import { FoldEnded } from "./FoldEnded";
import { FoldProgress } from "./FoldProgress";
import { PlanForm } from "./PlanForm";

export function CompressDialog({ id, focus }: { id: string; focus: string }) {
  const folding = useStore((state) => state.foldings[id]);
  if (!folding) return <PlanForm id={id} focus={focus} />;
  const close = () => {
    forgetCompression(id);
    closeDialog();
  };
  return folding.outcome ? (
    <FoldEnded id={id} folding={folding} outcome={folding.outcome} close={close} />
  ) : (
    <FoldProgress id={id} folding={folding} />
  );
}
