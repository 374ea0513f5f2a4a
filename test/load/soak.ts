/**
 * Runs the tests that take minutes and need an idle machine, one after the other: `npm run soak`, or only the named ones.
 * Exits with 1 if one of them has missed a bound.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { printTable } from './measure.ts'

const soaks = [
  'fast-path',
  'http2-sessions',
  'flood',
  'tokens',
  'toggle',
  'rolling-restart',
  'gateway-cluster',
  'crash',
  'repository-kill',
  'repository-kill-postgres',
  'schemathesis',
  'schemathesis-postgres',
  'export-kill',
  'hook-kill',
  'gitea',
  'mail-kill',
  'cluster',
  'export-workers',
  'export-outage',
  'graphql-fuzz',
  'turns',
]

/** The scripts and arguments of soaks on PostgreSQL. Every other soak is a script without arguments. */
const commands: Readonly<Record<string, readonly [script: string, ...words: string[]]>> = {
  'repository-kill-postgres': ['repository-kill', 'postgres'],
  'schemathesis-postgres': ['schemathesis', '25', 'postgres'],
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : soaks
const strange = chosen.filter((name) => !soaks.includes(name))
if (strange.length > 0) throw new Error(`no such soak: ${strange.join(', ')}; there are ${soaks.join(', ')}`)

const rows: string[][] = []
for (const name of chosen) {
  console.log(`\n== ${name}, load average ${loadavg()[0]!.toFixed(2)}`)
  const startMs = performance.now()
  const [script, ...words] = commands[name] ?? [name]
  const file = fileURLToPath(new URL(`${script}.js`, import.meta.url))
  const child = spawn(process.execPath, [file, ...words], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  rows.push([name, `${((performance.now() - startMs) / 1_000).toFixed(0)} s`, code === 0 ? 'met' : 'MISSED'])
  if (code !== 0) process.exitCode = 1
}
console.log()
printTable([['', 'took', 'bounds'], ...rows])
