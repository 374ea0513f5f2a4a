import { defineConfig } from 'vite'

export default defineConfig({
  build: { outDir: 'dist/console', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  oxc: { jsx: { importSource: 'preact' } },
})
