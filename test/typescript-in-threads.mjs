// Lets threads that a test starts run TypeScript sources, as vitest does in the test's own thread: Node 20 cannot by itself. The
// threads inherit the options of the process that runs the test (`execArgv` in vitest.config.ts), this file among them.
import { register } from 'node:module'
import process from 'node:process'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread && !process.features.typescript) register('./typescript-hooks.mjs', import.meta.url)
