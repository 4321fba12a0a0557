/** Says that the server is away, and that the page is looking for it. */

import { useStore } from "../../state/store";

export function Connection() {
  const online = useStore((state) => state.online);
  return (
    <span className="connection" role="status">
      {online ? null : <span className="reconnecting">Reconnecting…</span>}
    </span>
  );
}
