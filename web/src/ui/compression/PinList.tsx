/** What is pinned: sent word for word, whatever is compressed. */

import { unpin } from "../../state/effects/pins";
import type { Chat } from "../../state/types";
import { SourceLink } from "./SourceLink";

export function PinList({ chat }: { chat: Chat }) {
  const { pins } = chat.compression;
  if (pins.length === 0) return null;
  return (
    <details className="collapsed" open>
      <summary>Pinned: always sent word for word</summary>
      <ul className="extracts" tabIndex={0} aria-label="Pinned">
        {pins.map((pin) => (
          <li key={`${pin.message}-${pin.start}`}>
            <bdi className="extract-text">{pin.text || said(chat, pin.message)}</bdi>
            <span className="extract-actions">
              <SourceLink conversation={chat.id} message={pin.message} />
              <button type="button" className="link" onClick={() => void unpin(chat.id, pin.message)}>
                unpin
              </button>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const said = (chat: Chat, message: string): string => chat.messages.find((one) => one.id === message)?.text ?? "A whole message";
