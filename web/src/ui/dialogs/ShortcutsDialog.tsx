/** The keys that work everywhere in the page. */

import { SHORTCUTS } from "../../lib/keys";
import { Dialog } from "../kit/Dialog";

export function ShortcutsDialog() {
  return (
    <Dialog title="Keyboard shortcuts">
      <dl className="shortcuts">
        {SHORTCUTS.map((one) => (
          <div key={one.does}>
            <dt>
              {one.keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{one.does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
