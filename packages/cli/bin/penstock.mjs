#!/usr/bin/env node
import { existsSync } from 'node:fs'

if (existsSync(new URL('../dist/main.js', import.meta.url))) {
  await import('../dist/main.js')
} else {
  console.error('penstock: not built yet; run `npm run setup` in the checkout')
  process.exitCode = 2
}
