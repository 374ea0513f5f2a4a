// Enables threads of a test to run TypeScript sources, which Node 20 cannot do by itself; vitest does so only in the thread of
// the test. The threads inherit the options of the test process (`execArgv` in vitest.config.ts), which load this file.
import { register } from 'node:module'
import process from 'node:process'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread && !process.features.typescript) register('./typescript-hooks.mjs', import.meta.url)
