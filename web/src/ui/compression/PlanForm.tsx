/** What a compression would do, asked again as the order changes; nothing happens before it is confirmed. */

import { useEffect, useState, type FormEvent } from "react";
import { Problem } from "../../api/problem";
import type { Plan } from "../../api/types";
import { compress, plan } from "../../state/effects/compression";
import { closeDialog, Dialog } from "../kit/Dialog";
import { KEEP, keepOf, KeepField, type Keep } from "./KeepField";
import { PlanView } from "./PlanView";

const PAUSE = 250;
/** Milliseconds without a key before the plan is asked for again. */
const FOCUS_LENGTH = 2_000;

export function PlanForm({ id, focus: typed }: { id: string; focus: string }) {
  const [focus, setFocus] = useState(typed);
  const [keep, setKeep] = useState<Keep>(KEEP);
  const [found, setFound] = useState<Plan | Problem | null>(null);
  const [again, setAgain] = useState(0);
  const amount = keepOf(keep);
  useEffect(() => {
    if (amount === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const told = await plan(id, { focus, keep: amount }, controller.signal);
      if (told) setFound(told);
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [id, focus, amount, again]);
  const planned = found instanceof Problem ? null : found;
  const possible = planned !== null && planned.covered > 0 && amount !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!possible) return;
    closeDialog();
    void compress(id, { focus, keep: amount, snapshot: null, small: planned.small });
  };
  return (
    <Dialog title="Compress conversation history">
      <form className="form" onSubmit={submit}>
        <PlanView found={found} retry={() => setAgain(again + 1)} />
        <label className="field">
          <span>Focus (optional)</span>
          <textarea
            rows={2}
            dir="auto"
            maxLength={FOCUS_LENGTH}
            placeholder="What the summary must not miss"
            value={focus}
            onChange={(event) => setFocus(event.target.value)}
          />
        </label>
        <KeepField keep={keep} change={setKeep} />
        <div className="dialog-actions">
          <button type="button" className="button" onClick={closeDialog}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!possible}>
            Compress
          </button>
        </div>
      </form>
    </Dialog>
  );
}
