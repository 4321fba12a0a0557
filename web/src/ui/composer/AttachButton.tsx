/** Chooses files to attach; they can also be dropped anywhere on the page, or pasted. */

import { useEffect, useRef, useState } from "react";
import { attach } from "../../state/effects/files";
import { Icon } from "../kit/Icon";

export function AttachButton({ draft }: { draft: string }) {
  const chooser = useRef<HTMLInputElement>(null);
  const dropping = useDrop((files) => void attach(draft, files));
  return (
    <>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          void attach(draft, event.target.files ?? []);
          event.target.value = "";
        }}
      />
      <button
        type="button"
        className="icon-button"
        aria-label="Attach images, PDFs or text files"
        title="Attach images, PDFs or text files"
        onClick={() => chooser.current?.click()}
      >
        <Icon name="attach" />
      </button>
      {dropping && <p className="drop">Drop images, PDFs or text files to attach them</p>}
    </>
  );
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

function useDrop(dropped: (files: FileList) => void): boolean {
  const [over, setOver] = useState(false);
  const act = useRef(dropped);
  act.current = dropped;
  useEffect(() => {
    const moved = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Without this, the browser would leave the page for the file.
      event.preventDefault();
      setOver(!document.querySelector("dialog[open]"));
    };
    const left = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const fell = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) act.current(event.dataTransfer.files);
    };
    addEventListener("dragover", moved);
    addEventListener("dragleave", left);
    addEventListener("drop", fell);
    return () => {
      removeEventListener("dragover", moved);
      removeEventListener("dragleave", left);
      removeEventListener("drop", fell);
    };
  }, []);
  return over;
}
