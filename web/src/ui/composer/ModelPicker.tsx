/** Which model answers: those that can be used now first, the others with what is missing. */

import { chooseModel } from "../../state/effects/models";
import { useStore } from "../../state/store";
import { Icon } from "../kit/Icon";
import { Popover } from "../kit/Popover";
import { ModelList } from "./ModelList";

export function ModelPicker() {
  const models = useStore((state) => state.models);
  const model = useStore((state) =>
    state.route.name === "chat"
      ? String(state.chat?.settings?.effective.model ?? "")
      : (state.chosen ?? state.models?.default ?? ""),
  );
  return (
    <Popover
      label={model ? `Model: ${model}` : "Choose a model"}
      side="above"
      className="model-picker"
      buttonClass="button quiet small"
      button={
        <>
          <bdi>{model || "Choose a model"}</bdi>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) =>
        models && (
          <ModelList
            models={models}
            chosen={model}
            choose={(name) => {
              close();
              void chooseModel(name);
            }}
          />
        )
      }
    </Popover>
  );
}
