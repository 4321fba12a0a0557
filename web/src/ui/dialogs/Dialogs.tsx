/** Which component shows which dialog. */

import { lazy, Suspense, type ComponentType } from "react";
import type { Conversation } from "../../api/types";
import { toast } from "../../state/effects/toast";
import { useStore } from "../../state/store";
import type { HistoryView, SettingsTab } from "../../state/types";
import { PlanForm } from "../compression/PlanForm";
import { RegenerateDialog } from "../compression/RegenerateDialog";
import { BranchesDialog } from "./BranchesDialog";
import { FindDialog } from "./FindDialog";
import { closeDialog } from "../kit/Dialog";
import { KeyDialog } from "./KeyDialog";
import { ShortcutsDialog } from "./ShortcutsDialog";

const SettingsDialog = lazy<ComponentType<{ tab: SettingsTab }>>(() => import("../settings/SettingsDialog").catch(outdated));
const HistoryDialog = lazy<ComponentType<{ id: string; view: HistoryView }>>(() =>
  import("../history/HistoryDialog").catch(outdated),
);

const LabelsDialog = lazy<ComponentType<{ conversation: Conversation }>>(() =>
  import("../sidebar/LabelsDialog").then((part) => ({ default: part.LabelsDialog })).catch(outdated),
);

/** A part of the page is gone: the server was renewed since it was opened, or is away. */
function outdated() {
  closeDialog();
  toast({
    tone: "error",
    text: "This part of the page could not be loaded",
    detail: "The server may have been renewed.",
    action: { label: "Reload", run: () => location.reload() },
  });
  return { default: () => null };
}

export function Dialogs() {
  const dialog = useStore((state) => state.dialog);
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "key":
      return <KeyDialog reason={dialog.reason} />;
    case "compress":
      return <PlanForm id={dialog.id} focus={dialog.focus} />;
    case "regenerate":
      return <RegenerateDialog id={dialog.id} snapshot={dialog.snapshot} />;
    case "shortcuts":
      return <ShortcutsDialog />;
    case "settings":
      return (
        <Suspense>
          <SettingsDialog tab={dialog.tab} />
        </Suspense>
      );
    case "history":
      return (
        <Suspense>
          <HistoryDialog id={dialog.id} view={dialog.view} />
        </Suspense>
      );
    case "labels":
      return (
        <Suspense>
          <LabelsDialog conversation={dialog.conversation} />
        </Suspense>
      );
    case "find":
      return <FindDialog />;
    case "branches":
      return <BranchesDialog />;
  }
}
