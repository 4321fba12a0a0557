/** A menu of actions behind a button; arrow keys move, as people expect of menus. */

import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import { Popover } from "./Popover";

export interface MenuItem {
  label: string;
  run: () => void;
  danger?: boolean;
}

interface Props {
  label: string;
  button: ReactNode;
  items: MenuItem[];
  className?: string;
  buttonClass?: string;
  align?: "start" | "end";
}

export function Menu({ label, button, items, className = "", buttonClass = "icon-button", align = "end" }: Props) {
  return (
    <Popover label={label} button={button} kind="menu" align={align} className={className} buttonClass={buttonClass}>
      {(close) => <MenuList label={label} items={items} close={close} />}
    </Popover>
  );
}

function MenuList({ label, items, close }: { label: string; items: MenuItem[]; close: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useEffect(() => entries()[0]?.focus(), []);
  const move = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all.at(to % all.length)?.focus();
  };
  return (
    <div ref={list} role="menu" aria-label={label} className="menu" onKeyDown={move}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className={item.danger ? "menu-item danger" : "menu-item"}
          onClick={() => {
            close();
            item.run();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
