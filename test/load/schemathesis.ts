/**
 * The API of a core of its own against its description, by calls that schemathesis makes up from it: as administrator, and
 * without a credential. `schemathesis.js brief` takes a few minutes and always does the same; `schemathesis.js 30` goes on for
 * so many minutes. Exits 1 for an answer that the description does not know, for a failure of the server, and for an
 * operation that never succeeded, of which nothing would have been seen but refusals.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CoreProcess, ROOT_TOKEN } from '../core/core-process.ts'
import type { PreparedPaths } from '../interop/prepared.ts'
import { printTable } from './measure.ts'

/** Answers by operation and status. */
type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>

const callers = ['administrator', 'nobody'] as const
type Caller = (typeof callers)[number]

const testsDirectory = fileURLToPath(new URL('../../../', import.meta.url))
const here = join(testsDirectory, 'schemathesis')
const DEFAULT_MINUTES = 25

const bounds = boundsFrom(process.argv[2])
const { schemathesis, schemathesisIsComplete } = preparedPaths()
if (existsSync(schemathesisIsComplete)) await main()
else skip('schemathesis ("node test/interop/prepare.mjs" makes it; takes Python and Go)')

function boundsFrom(argument: string | undefined): Readonly<Record<Caller, readonly string[]>> {
  if (argument === 'brief') {
    return {
      administrator: ['--seed=1', '--max-examples=8'],
      nobody: ['--seed=1', '--max-examples=3', '--mode=positive'],
    }
  }
  const minutes = Number(argument ?? DEFAULT_MINUTES)
  const seconds = (share: number) => `--max-time=${Math.ceil(minutes * 60 * share)}`
  return { administrator: ['--max-examples=500', seconds(0.8)], nobody: ['--max-examples=500', seconds(0.2)] }
}

function preparedPaths(): PreparedPaths {
  const prepare = join(testsDirectory, 'interop', 'prepare.mjs')
  return JSON.parse(execFileSync(process.execPath, [prepare, '--print-paths'], { encoding: 'utf8' }))
}

function skip(missing: string): void {
  if (process.env.CI) throw new Error(`CI makes this beforehand: ${missing}`)
  console.warn(`skipped: needs ${missing}`)
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-schemathesis-'))
  try {
    await using core = await CoreProcess.start(join(directory, 'data'))
    const faults: string[] = []
    for (const caller of callers) {
      const countsFile = join(directory, `${caller}.json`)
      if ((await run(core, caller, countsFile)) !== 0) faults.push(`as ${caller}: see above`)
      const counts: Counts = JSON.parse(readFileSync(countsFile, 'utf8'))
      printStatuses(caller, counts)
      if (caller === 'administrator') faults.push(...operationsWithoutSuccess(counts))
    }
    const failed = core.stderr.split('\n').filter((line) => line.includes('"level":"error"'))
    faults.push(...failed.map((line) => `the core's log: ${line}`))
    console.log(faults.length === 0 ? 'all as described' : faults.join('\n'))
    if (faults.length > 0) process.exitCode = 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Its exit code. */
async function run(core: CoreProcess, caller: Caller, countsFile: string): Promise<number | null> {
  console.log(`\n== ${caller}`)
  const child = spawn(
    schemathesis,
    ['--config-file=schemathesis.toml', 'run', `${core.url}/openapi.json`, '--no-color', ...bounds[caller]],
    {
      cwd: here,
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: here,
        PYTHONDONTWRITEBYTECODE: '1',
        API_URL: core.url,
        ADMINISTRATOR_TOKEN: ROOT_TOKEN,
        CALLER: caller,
        COUNTS: countsFile,
      },
      stdio: 'inherit',
    },
  )
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

function printStatuses(caller: Caller, counts: Counts): void {
  const byStatus = new Map<string, number>()
  for (const [status, count] of Object.values(counts).flatMap(Object.entries<number>)) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + count)
  }
  const rows = [...byStatus].toSorted().map(([status, count]) => [status, String(count)])
  console.log(`\nanswers to ${caller}, ${Object.keys(counts).length} operations`)
  printTable([['status', 'answers'], ...rows])
}

const operationsWithoutSuccess = (counts: Counts): string[] =>
  Object.entries(counts)
    .filter(([, statuses]) => !Object.keys(statuses).some((status) => status.startsWith('2')))
    .map(([operation, statuses]) => `never succeeded: ${operation} ${JSON.stringify(statuses)}`)
