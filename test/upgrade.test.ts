import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { serving } from './cli/serving.ts'
import { temporaryDirectory } from './cli/temporary-directory.ts'
import { penstock } from './command-line.ts'

const databases = join(import.meta.dirname, '../fixtures/databases')
const archives = readdirSync(databases).filter((name) => name.endsWith('.tar.gz'))

/** What the script that made the data directory has stored beside it. */
interface Expected {
  readonly apiKey: string
  readonly rootToken: string
  readonly ingestToken: string
  readonly core: Readonly<Record<string, number>>
  readonly gateway: Readonly<Record<string, number>>
}

/** Tables with what users have made. No migration may add or remove rows of them. */
const contents = [
  ...['users', 'groups', 'projects', 'members', 'labels', 'milestones', 'issues', 'issue_labels', 'merge_requests'],
  ...['pipelines', 'pipeline_jobs', 'ci_variables', 'access_tokens', 'export_pipelines'],
]
const gatewayContents = ['ingest_tokens', 'api_keys', 'audit_events']

function rowsOf(file: string, tables: readonly string[]): Record<string, number> {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    return Object.fromEntries(
      tables.map((table) => [table, database.prepare(`select count(*) from "${table}"`).pluck().get() as number]),
    )
  } finally {
    database.close()
  }
}

test('there are data directories of earlier versions', () => {
  expect(archives).toContain('0.1.0.tar.gz')
})

describe.each(archives)('a data directory of %s', (archive) => {
  test('is migrated with its rows, and served with its tokens, secrets and repositories', async () => {
    await using directory = await temporaryDirectory()
    execFileSync('tar', ['--extract', '--gzip', '--file', join(databases, archive), '--directory', directory.path])
    const dataDir = join(directory.path, 'data')
    const expected: Expected = JSON.parse(readFileSync(join(directory.path, 'expected.json'), 'utf8'))
    const doctor = async () => (await penstock(['doctor', '--data-dir', dataDir])).stdout

    expect(await doctor()).toMatch(/^(?:note +\S+core\.db lacks \d\w+|ok +\S+core\.db is up to date)/m)
    expect(await penstock(['migrate', '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
    expect(rowsOf(join(dataDir, 'core.db'), contents)).toEqual(
      Object.fromEntries(contents.map((table) => [table, expected.core[table]])),
    )

    const service = await serving([], { PENSTOCK_DATA_DIR: dataDir })
    for (const table of gatewayContents)
      expect(rowsOf(join(dataDir, 'gateway.db'), [table])[table]).toBeGreaterThanOrEqual(expected.gateway[table]!)
    const url = (pattern: RegExp) => pattern.exec(service.stdout.text)![1]!
    const api = async (path: string) => {
      const response = await fetch(`${url(/REST API is on (http:\S+)\/api\/v4,/)}/api/v4/${path}`, {
        headers: { 'private-token': expected.rootToken },
      })
      return response.json()
    }
    expect(await api('user')).toMatchObject({ username: 'root', is_admin: true })
    expect(await api('projects/ops%2Ftools/repository/commits')).toMatchObject([{ title: 'Notes' }, {}])
    expect(await api('projects/ops%2Ftools/variables/SEED')).toMatchObject({ value: 'a value that is encrypted' })
    expect(await api('projects/ops%2Ftools/issues/1')).toMatchObject({
      state: 'closed',
      milestone: { title: 'Spring' },
    })
    expect(await api('projects/mossgate%2Fshop%2Fstorefront/pipelines?per_page=3')).toHaveLength(3)

    const state = await fetch(`${service.managementUrl}/api/v1/ingest_auth/state`, {
      headers: { 'obs-api-key': expected.apiKey },
    })
    expect(await state.json()).toMatchObject({ enabled: true })
    const send = async (headers: Record<string, string>) =>
      (
        await fetch(`${url(/takes OTLP on (\S+) and/).replace(/^(?!http)/, 'http://')}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{}',
        })
      ).status
    expect([await send({}), await send({ authorization: `Bearer ${expected.ingestToken}` })]).toEqual([401, 200])
    await service.end()
    expect((await doctor()).match(/^ok +\S+(?:core|gateway)\.db is up to date: its schema is \w+$/gm)).toHaveLength(2)
  })
})
