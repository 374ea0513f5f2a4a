import { randomBytes } from 'node:crypto'
import type { Listening } from '@penstock/http'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '../accounts/api-key-operations.ts'
import { readinessReport } from '../enforcement/readiness.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken } from '../tokens/token-operations.ts'
import { serveManagement } from './management-app.harness.ts'
import { managementRoutes } from './management-app.ts'

/** The tokens of the store. Each has the longest texts that may be stored. */
const TOKENS = 1_200
/** JSON writes the character with two bytes. */
const quotes = (characters: number) => '"'.repeat(characters)

let gateway: TemporaryGateway
let server: Listening
let key: string
let tokenId: string

beforeAll(async () => {
  gateway = await TemporaryGateway.open()
  const admin = gateway.as('Admin')
  key = (await createApiKey(admin, { name: quotes(80), role: 'Admin' })).key
  tokenId = (await createToken(admin, longestToken())).id
  await gateway.db.write(async (tx) => {
    await copyRows(tx, 'ingest_tokens', { count: TOKENS - 1, own: ownSecret })
    await copyRows(tx, 'audit_events', { count: 200 })
    await copyRows(tx, 'api_keys', { count: 50, own: ownSecret })
    const text = JSON.stringify({ name: quotes(45_000) })
    await tx.updateTable('audit_events').set({ before_json: text, after_json: text }).execute()
  })
  const tokens = Array.from({ length: 5_000 }, (_, index) => ({
    id: `token-${index}`.padEnd(12),
    name: quotes(80),
    disabled: false,
    expiresAtMs: undefined,
    lastUsedAtMs: undefined,
  }))
  server = await serveManagement(gateway, [], {
    readiness: async () => ({
      ...readinessReport({ minutes: [], clients: [], wrongPaths: [] }, tokens, 3_600_000, gateway.clock.nowMs()),
      processes: { reported: 1, live: 1 },
    }),
  })
})

afterAll(async () => {
  await server?.close()
  await gateway?.close()
})

const longestToken = () => ({
  name: quotes(80),
  description: quotes(500),
  tags: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${quotes(60)}${index}`, quotes(256)])),
  allowed_origins: Array.from({ length: 20 }, (_, index) => `https://${'a'.repeat(60)}${index}.example`),
})
/** Inserts copies of the first row of a table, each with other values in some columns. */
async function copyRows(
  tx: Parameters<Parameters<TemporaryGateway['db']['write']>[0]>[0],
  table: 'ingest_tokens' | 'audit_events' | 'api_keys',
  { count, own }: { readonly count: number; readonly own?: () => object },
): Promise<void> {
  const { position: _, ...row } = (await tx.selectFrom(table).selectAll().executeTakeFirstOrThrow()) as Record<
    string,
    unknown
  >
  if (table === 'audit_events') delete row.id
  const columns = Object.keys(row)
  for (let copied = 0; copied < count; copied += 1) {
    const values: Record<string, unknown> = { ...row, ...own?.() }
    await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
      values (${sql.join(columns.map((name) => values[name]))})`.execute(tx)
  }
}

const ownSecret = () => ({ id: randomBytes(6).toString('hex'), mac: randomBytes(32) })

interface Answer {
  readonly status: number
  readonly bytes: number
  readonly error?: { readonly code: string; readonly details: { readonly limit?: number } | null }
}

async function get(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { 'OBS-API-KEY': key } })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, bytes: bytes.length, ...(response.status >= 400 && JSON.parse(bytes.toString())) }
}

test('every GET answers with at most 8 MiB, or names the largest limit that fits', async () => {
  const outcomes: Record<string, number> = {}
  for (const { method, path, query } of managementRoutes) {
    if (method !== 'GET') continue
    const own = path.replace(':id', tokenId)
    const hasLimit = 'limit' in ((query as { shape?: object } | undefined)?.shape ?? {})
    for (const asked of hasLimit ? [own, `${own}?limit=100`] : [own]) {
      const { status, bytes, error } = await get(asked)
      outcomes[asked.replace(tokenId, ':id')] = status
      expect([asked, bytes <= MAX_ANSWER_BYTES]).toEqual([asked, true])
      if (status === 200) continue
      expect([asked, status, error?.code]).toEqual([asked, 413, 'answer_too_large'])
      const largest = error?.details?.limit ?? expect.unreachable(asked)
      expect([asked, (await get(`${own}?limit=${largest}`)).status]).toEqual([asked, 200])
      if (largest < 100) expect([asked, (await get(`${own}?limit=${largest + 1}`)).status]).toEqual([asked, 413])
    }
  }
  expect(outcomes).toMatchObject({
    '/api/v1/ingest_auth/tokens': 413,
    '/api/v1/ingest_auth/tokens?limit=100': 200,
    '/api/v1/ingest_auth/tokens/:id': 200,
    '/api/v1/ingest_auth/audit?limit=100': 413,
    '/api/v1/ingest_auth/readiness': 200,
    '/api/v1/api_keys': 200,
  })
})
