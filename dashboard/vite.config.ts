import { defineConfig } from "vite";
import { singlePage } from "./build/single-page.ts";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [singlePage("../server/src/front/dashboard")],
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 1_000_000,
    reportCompressedSize: false,
    rollupOptions: { output: { codeSplitting: false } },
  },
  server: { host: "127.0.0.1" },
});
