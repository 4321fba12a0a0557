/** The files that go with the next message. */

import type { Attached } from "../../lib/entry";
import { detach } from "../../state/effects/files";
import { Icon } from "../kit/Icon";

export function Files({ draft, files }: { draft: string; files: readonly Attached[] }) {
  return (
    <ul className="chips" aria-label="Attached">
      {files.map((file) => (
        <li key={file.key} className="chip">
          {file.part.type === "image" && <img src={file.part.source} alt="" />}
          <bdi className="chip-name">{file.name}</bdi>
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${file.name}`}
            onClick={() => detach(draft, file.key)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
