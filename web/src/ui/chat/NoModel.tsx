/** No model can be used: say what to do about it, the quickest way first. */

import { loadModels } from "../../state/effects/models";
import { useStore } from "../../state/store";
import { Icon } from "../kit/Icon";

export function NoModel() {
  const providers = useStore((state) => state.models?.providers) ?? [];
  const local = providers.find((one) => one.provider === "local");
  return (
    <section className="note no-model" aria-label="No model yet">
      <h2>No model can answer yet</h2>
      {local && (
        <p>
          <b>Without any key</b>, a very small model can run inside Octavo, enough to try everything here. On the machine
          that runs Octavo, {command(local.remedy)}
        </p>
      )}
      <p>
        <b>With a model of yours</b>, any one of these will do. A key is read when the server starts: set it, then start{" "}
        <code>octavo serve</code> again.
      </p>
      <dl>
        {providers
          .filter((one) => one !== local)
          .map((one) => (
            <div key={one.provider}>
              <dt>{one.title}</dt>
              <dd>
                {one.detail}
                {one.remedy && <>; {command(one.remedy)}</>}
              </dd>
            </div>
          ))}
      </dl>
      <button type="button" className="button small" onClick={() => void loadModels()}>
        <Icon name="retry" />
        Look again
      </button>
    </section>
  );
}

const COMMAND = /^(.*: )((?:octavo|ollama|pip) .+)$/;

/** A remedy often ends in a command, which is set as one. */
function command(remedy: string) {
  const found = COMMAND.exec(remedy);
  return found ? (
    <>
      {found[1]}
      <code>{found[2]}</code>
    </>
  ) : (
    remedy
  );
}
