/** Line icons, drawn here: 24 by 24, one stroke, the colour of the text. */

const PATHS = {
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h10",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  more: "M5.400 12a.6.6 0 1 0 1.200 0a.6.6 0 1 0-1.200 0M11.400 12a.6.6 0 1 0 1.200 0a.6.6 0 1 0-1.200 0M17.400 12a.6.6 0 1 0 1.200 0a.6.6 0 1 0-1.200 0",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  copy: "M9 9h10v10H9zM5 15V5h10",
  check: "M5 12.500l4.500 4.500L19 7.500",
  close: "M6 6l12 12M18 6L6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  chevron: "M7 10l5 5 5-5",
  retry: "M5 12a7 7 0 1 0 2.200-5.100M5 4v4h4",
  compress: "M5 8h14M5 16h14M9 4l3 4 3-4M9 20l3-4 3 4",
  theme: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  help: "M9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.700.300-1 .900-1 1.700M12 17h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  archive: "M4 7h16v3H4zM6 10v9h12v-9M10 14h4",
  attach: "M19 11.500l-7 7a4.500 4.500 0 0 1-6.400-6.400l7.500-7.500a3 3 0 0 1 4.300 4.300l-7.400 7.400a1.500 1.500 0 0 1-2.200-2.200l6.600-6.600",
  edit: "M5 19h4L19 9l-4-4L5 15zM13 7l4 4",
  branch: "M7 5v14M7 12h6a4 4 0 0 0 4-4V5M5 19h4M5 5h4M15 5h4",
  left: "M14 7l-5 5 5 5",
  right: "M10 7l5 5-5 5",
  gear: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
  book: "M12 6c-2-1.500-5-2-8-2v14c3 0 6 .500 8 2 2-1.500 5-2 8-2V4c-3 0-6 .500-8 2zM12 6v14",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700L12 17",
  open: "M12 15V4M7 9l5-5 5 5M5 15v4h14v-4",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
