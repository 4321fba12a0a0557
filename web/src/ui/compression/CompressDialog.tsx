/** Summarize by hand: the plan, then the work, then how it ended. Closing it while it works does not stop it. */

import { forgetCompression } from "../../state/effects/compression";
import { useStore } from "../../state/store";
import { closeDialog } from "../kit/Dialog";
import { CompressionEnded } from "./CompressionEnded";
import { CompressionProgress } from "./CompressionProgress";
import { PlanForm } from "./PlanForm";

export function CompressDialog({ id, focus }: { id: string; focus: string }) {
  const compression = useStore((state) => state.compressions[id]);
  if (!compression) return <PlanForm id={id} focus={focus} />;
  const close = () => {
    forgetCompression(id);
    closeDialog();
  };
  return compression.outcome ? (
    <CompressionEnded id={id} compression={compression} outcome={compression.outcome} close={close} />
  ) : (
    <CompressionProgress id={id} compression={compression} />
  );
}
