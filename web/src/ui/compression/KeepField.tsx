/** How much stays word for word: as the settings say, nothing, a share, or a number of tokens. */

export interface Keep {
  how: "settings" | "nothing" | "share" | "tokens";
  value: string;
}

export const KEEP: Keep = { how: "settings", value: "" };
const PERCENT = 100;
const STARTS: Record<Keep["how"], string> = { settings: "", nothing: "", share: "30", tokens: "1000" };

/** The amount as the interface takes it; undefined while the field holds no such number. */
export function keepOf({ how, value }: Keep): number | null | undefined {
  if (how === "settings") return null;
  if (how === "nothing") return 0;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) return undefined;
  if (how === "tokens") return number;
  return number < PERCENT ? number / PERCENT : undefined;
}

export function KeepField({ keep, change }: { keep: Keep; change: (keep: Keep) => void }) {
  const wrong = keepOf(keep) === undefined;
  return (
    <div className="keep">
      <label className="field">
        <span>Keep word for word</span>
        <select
          value={keep.how}
          onChange={(event) => {
            const how = event.target.value as Keep["how"];
            change({ how, value: STARTS[how] });
          }}
        >
          <option value="settings">As the settings say</option>
          <option value="nothing">Nothing</option>
          <option value="share">A share of the history</option>
          <option value="tokens">A number of tokens</option>
        </select>
      </label>
      {(keep.how === "share" || keep.how === "tokens") && (
        <label className="field">
          <span>{keep.how === "share" ? "Percent" : "Tokens"}</span>
          <input
            inputMode="numeric"
            value={keep.value}
            aria-invalid={wrong}
            aria-describedby={wrong ? "keep-wrong" : undefined}
            onChange={(event) => change({ ...keep, value: event.target.value })}
          />
        </label>
      )}
      {wrong && (
        <p id="keep-wrong" className="compression-warning" role="alert">
          {keep.how === "share" ? "A whole number from 1 to 99." : "A whole number, 1 or more."}
        </p>
      )}
    </div>
  );
}
