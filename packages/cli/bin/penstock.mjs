#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

// While the modules load, the young generation stays small: nearly everything that they create is kept, and an idle service
// would hold 30 MiB of empty pages for half a minute or more. The first statement of the program ends this.
setFlagsFromString('--semi-space-growth-factor=1')
if (existsSync(new URL('../dist/bundle/main.js', import.meta.url))) {
  await import('../dist/bundle/main.js')
} else {
  console.error('penstock: not built yet; run `npm run setup` in the checkout')
  process.exitCode = 2
}
