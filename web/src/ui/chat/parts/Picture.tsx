/** A picture of a message; a large one is fetched when it comes into sight. */

import { useEffect, useState } from "react";
import { loadPicture } from "../../../state/effects/pictures";

interface Props {
  source: string;
  conversation: string;
  message: string;
  part: number;
}

export function Picture({ source, conversation, message, part }: Props) {
  const [fetched, setFetched] = useState<string | null>(null);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    if (source) return;
    let there = true;
    void loadPicture(conversation, message, part).then((address) => {
      if (!there) return;
      setFetched(address);
      setLost(address === null);
    });
    return () => {
      there = false;
    };
  }, [source, conversation, message, part]);
  const address = source || fetched;
  if (lost) return <p className="file">The picture cannot be shown</p>;
  if (!address) return <p className="file">Picture…</p>;
  return <img className="picture" src={address} alt="Attached" onError={() => setLost(true)} />;
}
