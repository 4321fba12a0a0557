/** The files that go with the next message. */

import type { Attached } from "../../lib/entry";
import { percent } from "../../lib/format";
import type { Upload } from "../../lib/upload";
import { detach } from "../../state/effects/files";
import { Icon } from "../kit/Icon";
import { Progress } from "../kit/Progress";

interface Props {
  draft: string;
  files: readonly Attached[];
  uploads: readonly Upload[];
}

export function Files({ draft, files, uploads }: Props) {
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
      {uploads.map((one) => (
        <li key={one.id} className="chip">
          <span className="chip-upload">
            <span>
              <bdi className="chip-name">{one.name}</bdi> {one.share < 1 ? percent(Math.floor(100 * one.share)) : "reading…"}
            </span>
            <Progress share={one.share} name={`Reading ${one.name}`} />
          </span>
          <button type="button" className="icon-button" aria-label={`Remove ${one.name}`} onClick={one.cancel}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
