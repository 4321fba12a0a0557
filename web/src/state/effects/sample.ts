/** The conversation that comes with Octavo. */

import * as api from "../../api/client";
import { dispatch } from "../store";
import { go } from "./route";
import { showCompression } from "./snapshots";
import { tellTabs } from "./tabs";
import { report } from "./toast";

/** Open it where it is compressed: that is what there is to see. */
export async function openSample(): Promise<void> {
  try {
    const sample = await api.openSample();
    dispatch({ type: "conversations/changed", conversation: sample });
    tellTabs();
    go({ name: "chat", id: sample.id });
    await showCompression(sample.id);
  } catch (error) {
    report(error);
  }
}
