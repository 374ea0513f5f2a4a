import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { serving } from './cli/serving.ts'
import { penstock } from './command-line.ts'

const databases = join(import.meta.dirname, '../fixtures/databases')

/** A data directory, and the facts that the script which made it has stored beside it. */
export interface EarlierVersion {
  readonly dataDir: string
  readonly apiKey: string
  readonly rootToken: string
  readonly ingestToken: string
  /** The number of rows of each table, before any migration. */
  readonly core: Readonly<Record<string, number>>
  readonly gateway: Readonly<Record<string, number>>
}

/** Tables of the core with what users have made. No migration may add or remove rows of them. */
export const contents = [
  ...['users', 'groups', 'projects', 'members', 'labels', 'milestones', 'issues', 'issue_labels', 'merge_requests'],
  ...['pipelines', 'pipeline_jobs', 'ci_variables', 'access_tokens', 'export_pipelines'],
]

/** Returns the versions that have left a data directory with the core on SQLite, or on PostgreSQL. */
export function earlierVersions(core: 'sqlite' | 'postgres'): string[] {
  const archives = readdirSync(databases).map((name) => /^([\d.]+\d)(-postgres)?\.tar\.gz$/.exec(name))
  return archives.flatMap((found) => (found && (found[2] !== undefined) === (core === 'postgres') ? [found[1]!] : []))
}

/** Unpacks the data directory of a version into a directory. */
export function unpackEarlierVersion(version: string, core: 'sqlite' | 'postgres', directory: string): EarlierVersion {
  const archive = join(databases, `${version}${core === 'postgres' ? '-postgres' : ''}.tar.gz`)
  execFileSync('tar', ['--extract', '--gzip', '--file', archive, '--directory', directory])
  return { dataDir: join(directory, 'data'), ...JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) }
}

/** Migrates the databases of a version; `doctor` says before and after what there is to do. */
export async function migrateEarlierVersion(
  { dataDir }: EarlierVersion,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const run = (...args: string[]) => penstock([...args, '--data-dir', dataDir], { env })
  const core = String.raw`(?:\S+core\.db|the database of PENSTOCK_DATABASE_URL)`
  expect((await run('doctor')).stdout).toMatch(
    new RegExp(String.raw`^(?:note +${core} lacks \d\w+|ok +${core} is up to date)`, 'm'),
  )
  expect(await run('migrate')).toMatchObject({ exitCode: 0 })
  expect((await run('doctor')).stdout).toMatch(
    new RegExp(String.raw`^ok +${core} is up to date: its schema is \d\w+$`, 'm'),
  )
}

/** Serves a migrated version: its tokens are valid, its secrets can be decrypted, its repositories and rows are there. */
export async function serveEarlierVersion(made: EarlierVersion, env: Readonly<Record<string, string>>): Promise<void> {
  const service = await serving([], { ...env, PENSTOCK_DATA_DIR: made.dataDir })
  const found = (pattern: RegExp) => pattern.exec(service.stdout.text)![1]!
  const coreUrl = found(/REST API is on (http:\S+)\/api\/v4,/)
  const otlpUrl = found(/takes OTLP on (\S+) and/).replace(/^(?!http)/, 'http://')
  const api = async (path: string) => {
    const response = await fetch(`${coreUrl}/api/v4/${path}`, { headers: { 'private-token': made.rootToken } })
    return response.json()
  }
  expect(await api('user')).toMatchObject({ username: 'root', is_admin: true })
  expect(await api('projects/ops%2Ftools/repository/commits')).toMatchObject([{ title: 'Notes' }, {}])
  expect(await api('projects/ops%2Ftools/variables/SEED')).toMatchObject({ value: 'a value that is encrypted' })
  expect(await api('projects/ops%2Ftools/issues/1')).toMatchObject({ state: 'closed', milestone: { title: 'Spring' } })
  expect(await api('projects/mossgate%2Fshop%2Fstorefront/pipelines?per_page=3')).toHaveLength(3)

  const state = await fetch(`${service.managementUrl}/api/v1/ingest_auth/state`, {
    headers: { 'obs-api-key': made.apiKey },
  })
  expect(await state.json()).toMatchObject({ enabled: true })
  const send = async (headers: Readonly<Record<string, string>>) => {
    const json = { 'content-type': 'application/json', ...headers }
    return (await fetch(`${otlpUrl}/v1/traces`, { method: 'POST', headers: json, body: '{}' })).status
  }
  expect([await send({}), await send({ authorization: `Bearer ${made.ingestToken}` })]).toEqual([401, 200])
  await service.end()
}
