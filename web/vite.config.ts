import { defineConfig } from "vite";

// `npm run dev` serves the sources and passes the interface on to a running `octavo serve`.
const SERVER = "http://127.0.0.1:8765";

export default defineConfig({
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
