/**
 * Tests the API of a core against its description with calls that schemathesis generates, as administrator and without a
 * credential. `schemathesis.js brief` takes a few minutes and always makes the same calls; `schemathesis.js 30` makes random
 * calls for 30 more minutes. The second word is the database, `sqlite` or `postgres`. A third one is a regular expression: only operations
 * with a matching path are called. Exits with 1 for an answer that is not in the description, for a server error, and for
 * an operation that never succeeded, because only its refusals would have been tested.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CoreProcess, ROOT_TOKEN } from '../core/core-process.ts'
import type { PreparedPaths } from '../interop/prepared.ts'
import { startPostgres } from '../postgres/postgres-server.ts'
import { printTable } from './measure.ts'

/** The number of answers by operation and status. */
type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>

interface Run {
  readonly caller: 'administrator' | 'anonymous'
  readonly options: readonly string[]
}

const testsDirectory = fileURLToPath(new URL('../../../', import.meta.url))
const here = join(testsDirectory, 'schemathesis')
const DEFAULT_MINUTES = 25
const DESCRIPTION = 'openapi.json'

/** The operations on objects that the API cannot create: it writes unsigned commits only. */
const withoutObjects = new Set(['GET /api/v4/projects/{id}/repository/commits/{sha}/signature'])

const { schemathesis, schemathesisIsComplete } = preparedPaths()
const [, , length, database = 'sqlite', paths] = process.argv
if (!['sqlite', 'postgres'].includes(database)) throw new Error(`Not a database: ${database}`)

if (existsSync(schemathesisIsComplete)) await perform(runsFor(length))
else skip('schemathesis ("node test/interop/prepare.mjs" makes it; takes Python and Go)')

function runsFor(argument: string | undefined): Run[] {
  const each = '--phases=coverage,fuzzing'
  const linked = '--phases=stateful'
  const seed = '--seed=1'
  const repeatable: Run = { caller: 'administrator', options: [seed, each, '--max-examples=8'] }
  if (argument === 'brief') {
    return [
      repeatable,
      { caller: 'administrator', options: [seed, linked, '--max-time=60'] },
      { caller: 'anonymous', options: [seed, each, '--max-examples=3', '--mode=positive'] },
    ]
  }
  const minutes = Number(argument ?? DEFAULT_MINUTES)
  const lasting = (share: number) => ['--max-examples=500', `--max-time=${Math.ceil(minutes * 60 * share)}`]
  return [
    // Every operation succeeds in it. Random calls can remove the objects that other operations need before these are called.
    repeatable,
    { caller: 'administrator', options: [each, ...lasting(0.6)] },
    { caller: 'administrator', options: [linked, ...lasting(0.25)] },
    { caller: 'anonymous', options: [each, ...lasting(0.15)] },
  ]
}

function preparedPaths(): PreparedPaths {
  const prepare = join(testsDirectory, 'interop', 'prepare.mjs')
  return JSON.parse(execFileSync(process.execPath, [prepare, '--print-paths'], { encoding: 'utf8' }))
}

function skip(missing: string): void {
  if (process.env.CI) throw new Error(`CI makes this beforehand: ${missing}`)
  console.warn(`skipped: needs ${missing}`)
}

async function perform(runs: readonly Run[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-schemathesis-'))
  const server = database === 'postgres' ? await startPostgres() : undefined
  try {
    await using core = await CoreProcess.start(join(directory, 'data'), { databaseUrl: server?.url })
    // schemathesis would wait only 10 s for the description.
    const description = await fetch(`${core.url}/openapi.json`)
    writeFileSync(join(directory, DESCRIPTION), await description.text())
    const faults: string[] = []
    const byAdministrator: Record<string, Set<string>> = {}
    for (const [index, run] of runs.entries()) {
      const countsFile = join(directory, `${index}.json`)
      if ((await exitCodeOf(run, core, countsFile)) !== 0)
        faults.push(`${run.caller}, ${run.options.join(' ')}: see above`)
      const counts: Counts = JSON.parse(readFileSync(countsFile, 'utf8'))
      printStatuses(run, counts)
      for (const [operation, statuses] of run.caller === 'administrator' ? Object.entries(counts) : []) {
        byAdministrator[operation] = new Set([...(byAdministrator[operation] ?? []), ...Object.keys(statuses)])
      }
    }
    for (const [operation, statuses] of Object.entries(byAdministrator)) {
      const succeeded = [...statuses].some((status) => status.startsWith('2'))
      if (!succeeded && !withoutObjects.has(operation))
        faults.push(`never succeeded: ${operation}, ${[...statuses].join()}`)
    }
    const failed = core.stderr.split('\n').filter((line) => line.includes('"level":"error"'))
    faults.push(...failed.map((line) => `the core's log: ${line}`))
    console.log(faults.length === 0 ? '\nall as described' : faults.join('\n'))
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function exitCodeOf({ caller, options }: Run, core: CoreProcess, countsFile: string): Promise<number | null> {
  console.log(`\n== ${caller}, ${options.join(' ')}`)
  const child = spawn(
    schemathesis,
    [
      `--config-file=${join(here, 'schemathesis.toml')}`,
      'run',
      DESCRIPTION,
      `--url=${new URL(core.url).origin}`,
      '--no-color',
      ...(paths === undefined ? [] : [`--include-path-regex=${paths}`]),
      ...options,
    ],
    {
      // schemathesis writes its caches into its working directory.
      cwd: dirname(countsFile),
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

function printStatuses({ caller }: Run, counts: Counts): void {
  const byStatus = new Map<string, number>()
  for (const [status, count] of Object.values(counts).flatMap(Object.entries<number>)) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + count)
  }
  const rows = [...byStatus].toSorted().map(([status, count]) => [status, String(count)])
  console.log(`\nanswers to ${caller}, of ${Object.keys(counts).length} operations`)
  printTable([['status', 'answers'], ...rows])
}
