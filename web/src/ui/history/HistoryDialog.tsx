/** The whole conversation, and what of it is sent: two views that are never mixed up. */

import { useEffect, useState } from "react";
import type { Context } from "../../api/types";
import { readContext } from "../../state/effects/history";
import type { HistoryView } from "../../state/types";
import { Dialog } from "../kit/Dialog";
import { Tabs, type Tab } from "../kit/Tabs";
import { AllView } from "./AllView";
import { SentView } from "./SentView";

const TABS: Tab<HistoryView>[] = [
  { key: "all", title: "Full history" },
  { key: "sent", title: "What will be sent" },
];

export default function HistoryDialog({ id, view }: { id: string; view: HistoryView }) {
  const [at, go] = useState(view);
  /** The context, or why there is none. */
  const [found, show] = useState<Context | string | null>(null);
  useEffect(() => void readContext(id).then(show), [id]);
  const context = typeof found === "object" ? found : null;
  return (
    <Dialog title="History" wide>
      <Tabs label="History" tabs={TABS} at={at} go={go}>
        {at === "all" && <AllView id={id} context={context} />}
        {at === "sent" && context && <SentView context={context} />}
        {at === "sent" && typeof found === "string" && <p className="note">{found}</p>}
      </Tabs>
    </Dialog>
  );
}
