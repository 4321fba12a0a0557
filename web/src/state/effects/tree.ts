/** The whole conversation as a tree, for the dialog that shows it. */

import * as api from "../../api/client";
import type { Tree } from "../../api/types";
import { report } from "./toast";

export async function loadTree(id: string): Promise<Tree | null> {
  try {
    return await api.readTree(id);
  } catch (error) {
    report(error);
    return null;
  }
}
