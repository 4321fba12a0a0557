import { defineConfig, type Plugin } from "vite";

// `npm run dev` serves the sources and passes the interface on to a running `octavo serve`.
const SERVER = "http://127.0.0.1:8765";

/** Every browser that can show the page reads WOFF2: the other formats of the formulas' fonts would never be asked for. */
const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform: (code, id) =>
    /katex.*\.css/.test(id) ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)/g, "") : null,
};

export default defineConfig({
  plugins: [onlyWoff2],
  build: {
    outDir: "../src/octavo/server/static",
    emptyOutDir: true,
    target: "es2022",
    // Browsers that know `light-dark()`; without this it would be written out twice.
    cssTarget: ["chrome123", "edge123", "firefox120", "safari17.5"],
    // Inlined files would be `data:` addresses, which the server's content security policy allows for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: SERVER, changeOrigin: true } } },
});
