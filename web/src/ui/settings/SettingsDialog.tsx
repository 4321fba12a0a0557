/** Everything that can be set: for this conversation, for a model, for everything; cards, keys, and the looks. */

import { lazy, Suspense, useState } from "react";
import { useStore } from "../../state/store";
import type { SettingsTab } from "../../state/types";
import { closeDialog, Dialog } from "../kit/Dialog";
import { Tabs, type Tab } from "../kit/Tabs";
import { AppearancePanel } from "./AppearancePanel";
import { CardsPanel } from "./CardsPanel";
import { MODELS } from "./FieldInput";
import { KeysPanel } from "./KeysPanel";
import { LevelPanel } from "./LevelPanel";
import { ModelPanel } from "./ModelPanel";

const CostsPanel = lazy(() => import("./CostsPanel"));

const TABS: Tab<SettingsTab>[] = [
  { key: "conversation", title: "This conversation" },
  { key: "model", title: "Per model" },
  { key: "everything", title: "Everything" },
  { key: "cards", title: "Model cards" },
  { key: "keys", title: "API keys" },
  { key: "costs", title: "Costs" },
  { key: "appearance", title: "Appearance" },
];

/** A field is saved when it is left: also when that is done by closing the dialog. */
function leave(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  closeDialog();
}

export default function SettingsDialog({ tab }: { tab: SettingsTab }) {
  const id = useStore((state) => (state.route.name === "chat" ? state.route.id : null));
  const models = useStore((state) => state.models?.models);
  const [at, go] = useState<SettingsTab>(tab === "conversation" && !id ? "everything" : tab);
  return (
    <Dialog title="Settings" wide onClose={leave}>
      <Tabs label="Settings" tabs={TABS.filter((one) => id || one.key !== "conversation")} at={at} go={go}>
        {at === "conversation" && id && (
          <LevelPanel
            level={{ name: "conversation", id }}
            about="These hold in this conversation only. What is not set is inherited: from its model, then from everything."
          />
        )}
        {at === "model" && <ModelPanel />}
        {at === "everything" && (
          <LevelPanel
            level={{ name: "everything" }}
            about="These hold everywhere, unless a model or a conversation says otherwise."
          />
        )}
        {at === "cards" && <CardsPanel />}
        {at === "keys" && <KeysPanel />}
        {at === "costs" && (
          <Suspense>
            <CostsPanel />
          </Suspense>
        )}
        {at === "appearance" && <AppearancePanel />}
      </Tabs>
      <datalist id={MODELS}>
        {models?.map((card) => (
          <option key={card.name} value={card.name} />
        ))}
      </datalist>
    </Dialog>
  );
}
