/** In place of a conversation that was deleted, by whomever, or was never here. */

import { bringBack } from "../../state/effects/conversations";
import { Connection } from "./Connection";
import { SidebarButton } from "./SidebarButton";

export function Gone({ id, back }: { id: string; back: boolean }) {
  return (
    <>
      <header className="chat-head bare">
        <SidebarButton />
        <Connection />
      </header>
      {/* Where there is no input, this is what the way past the list leads to. */}
      <div className="home" id="composer" tabIndex={-1}>
        <h1>{back ? "This conversation was deleted" : "This conversation is not here"}</h1>
        <p>
          {back
            ? "It can be brought back for a day; then it is gone for good."
            : "It was deleted, or it belongs to another key. The list at the side has those that are yours."}
        </p>
        {back && (
          <div>
            <button type="button" className="button primary" onClick={() => void bringBack(id)}>
              Bring back
            </button>
          </div>
        )}
      </div>
    </>
  );
}
