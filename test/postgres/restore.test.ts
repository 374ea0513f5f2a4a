import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporarySchema } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { expectRestored } from '../core/restored-backup.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'
import { postgresBinaries } from './postgres-server.ts'

describeWithPostgres('a backup on PostgreSQL', (serverUrl) => {
  /** Returns a schema, a directory, and the functions that dump and restore the schema. */
  async function place() {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-restore-'))
    const schema = await temporarySchema(serverUrl())
    onTestFinished(async () => {
      await schema.remove()
      rmSync(directory, { recursive: true, force: true })
    })
    const dump = join(directory, 'database.dump')
    const name = new URL(schema.location).searchParams.get('application_name')!
    const run = (program: string, ...args: string[]) => execFileSync(join(postgresBinaries()!, program), args)
    return {
      directory,
      dataDir: join(directory, 'data'),
      databaseUrl: schema.location,
      dump: () => run('pg_dump', '--format=custom', `--schema=${name}`, `--file=${dump}`, serverUrl()),
      restoreDump: () => run('pg_restore', '--clean', '--if-exists', `--dbname=${serverUrl()}`, dump),
    }
  }

  test('of a core is restored with its dump, and no project sees what another one had', async () => {
    await expectRestored(await place())
  }, 180_000)

  test.each(['the same', 'an empty'])(
    'of a gateway is restored with its dump into %s data directory',
    async (which) => {
      const { directory, dataDir, databaseUrl, dump, restoreDump } = await place()
      // With an upstream, the data directory has no SQLite file.
      const upstream = { PENSTOCK_UPSTREAM: (await startSink()).url }
      const env = { PENSTOCK_DATA_DIR: dataDir, PENSTOCK_GATEWAY_DATABASE_URL: databaseUrl, ...upstream }
      const backup = join(directory, 'backup')
      const gateway = await startGateway(env)
      await gateway.enforce(true)
      const kept = await gateway.token()
      dump()
      expect(await penstock(['backup', backup], { env })).toMatchObject({ exitCode: 0 })
      const late = await gateway.token()
      await gateway.enforce(false)
      expect((await gateway.call('DELETE', `/tokens/${kept.id}`)).status).toBeLessThan(300)
      const { exitCode, stderr } = await penstock(['restore', backup], { env })
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${dataDir} is in use: stop every process`)])
      await gateway.stop()
      if (which === 'an empty') rmSync(dataDir, { recursive: true })
      restoreDump()
      const restored = await penstock(['restore', backup], { env })
      expect(restored, restored.stderr).toMatchObject({ exitCode: 0 })
      const again = await startGateway(env)
      const statusWith = async ({ token }: { readonly token: string }) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        return (await fetch(`${again.otlpUrl}/v1/traces`, { method: 'POST', headers, body: '{}' })).status
      }
      expect([await statusWith(kept), await statusWith(late)]).toEqual([200, 401])
      await again.stop()
    },
    120_000,
  )
})
