/**
 * Runs the tests that take minutes and need an idle machine, one after the other: `npm run soak`, or only the named ones.
 * Exits with 1 if one of them has missed a bound.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { printTable } from './measure.ts'

const scripts = [
  'flood',
  'tokens',
  'toggle',
  'rolling-restart',
  'crash',
  'repository-kill',
  'schemathesis',
  'export-kill',
  'hook-kill',
  'mail-kill',
  'export-workers',
  'export-outage',
  'graphql-fuzz',
  'turns',
]

const chosen = process.argv.length > 2 ? process.argv.slice(2) : scripts
const strange = chosen.filter((name) => !scripts.includes(name))
if (strange.length > 0) throw new Error(`no such soak: ${strange.join(', ')}; there are ${scripts.join(', ')}`)

const rows: string[][] = []
for (const name of chosen) {
  console.log(`\n== ${name}, load average ${loadavg()[0]!.toFixed(2)}`)
  const startMs = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.js`, import.meta.url))], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  rows.push([name, `${((performance.now() - startMs) / 1_000).toFixed(0)} s`, code === 0 ? 'met' : 'MISSED'])
  if (code !== 0) process.exitCode = 1
}
console.log()
printTable([['', 'took', 'bounds'], ...rows])
