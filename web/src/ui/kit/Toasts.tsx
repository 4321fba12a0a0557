/** Short news, in a live region. Errors stay until they are dismissed; the rest goes by itself, unless it is read. */

import { useEffect, useState } from "react";
import { act, dismiss } from "../../state/effects/toast";
import { useStore } from "../../state/store";
import type { Toast } from "../../state/types";
import { Icon } from "./Icon";
import { Progress } from "./Progress";

const SHOWN_FOR = 8_000;
/** Milliseconds: long enough to read two lines and reach for "Undo". */

export function Toasts() {
  const toasts = useStore((state) => state.toasts);
  return (
    <section className="toasts" aria-label="Notifications" aria-live="polite">
      {toasts.map((one) => (
        <OneToast key={one.id} toast={one} />
      ))}
    </section>
  );
}

function OneToast({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  const stays = held || toast.tone === "error" || toast.progress !== undefined;
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => dismiss(toast.id), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [stays, toast.id]);
  return (
    <div
      className={`toast ${toast.tone}`}
      {...(toast.tone === "error" && { role: "alert" })}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div className="toast-text">
        <strong>{toast.text}</strong>
        {toast.detail && <bdi>{toast.detail}</bdi>}
        {toast.progress !== undefined && <Progress share={toast.progress} name={toast.text} />}
      </div>
      {toast.action && (
        <button type="button" className="button quiet" onClick={() => act(toast.id)}>
          {toast.action.label}
        </button>
      )}
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
