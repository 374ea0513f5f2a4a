import process from 'node:process'
import { defaultClientConditions, defineConfig } from 'vite'

/** The service that `npm run dev` has started beside the development server. */
const service = `http://${process.env.PENSTOCK_OBS_LISTEN ?? '127.0.0.1:8081'}`

export default defineConfig({
  // The sources of the packages, so that they need not be compiled first.
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: { outDir: 'dist/console', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  oxc: { jsx: { importSource: 'preact' } },
  server: { cors: false, host: '127.0.0.1', port: 5173, strictPort: true, proxy: { '/api': service } },
})
