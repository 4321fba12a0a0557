/** Nothing is open: say what this is, and begin: with a sample that shows it, or with words of one's own. */

import { NEW } from "../../state/effects/drafts";
import { useStore } from "../../state/store";
import { Composer } from "../composer/Composer";
import { Connection } from "./Connection";
import { Examples } from "./Examples";
import { NoModel } from "./NoModel";
import { SidebarButton } from "./SidebarButton";

export function Home() {
  const ready = useStore((state) => state.models?.providers.some((one) => one.ready) ?? true);
  return (
    <>
      <header className="chat-head bare">
        <SidebarButton />
        <Connection />
      </header>
      <div className="home">
        <p className="ornament" aria-hidden="true">
          8vo
        </p>
        <h1>Talk as long as you like</h1>
        <p>
          Every message is kept. When a model's window fills, the older part is compressed into a summary that you can open,
          edit and undo, and the conversation goes on.
        </p>
        <Examples prompts={ready} />
        {!ready && <NoModel />}
      </div>
      <Composer draft={NEW} turn={null} />
    </>
  );
}
