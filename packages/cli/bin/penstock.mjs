#!/usr/bin/env node
import { existsSync } from 'node:fs'

if (existsSync(new URL('../dist/bundle/main.js', import.meta.url))) {
  await import('../dist/bundle/main.js')
} else {
  console.error('penstock: not built yet; run `npm run setup` in the checkout')
  process.exitCode = 2
}
