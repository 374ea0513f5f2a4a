import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporarySchema } from '@penstock/testkit'
import { onTestFinished, test } from 'vitest'
import { expectRestored } from '../core/restored-backup.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'
import { postgresBinaries } from './postgres-server.ts'

describeWithPostgres('a backup of a core on PostgreSQL', (serverUrl) => {
  test('is restored with its dump, and no project sees what another one had', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-restore-'))
    const schema = await temporarySchema(serverUrl())
    onTestFinished(async () => {
      await schema.remove()
      rmSync(directory, { recursive: true, force: true })
    })
    const dump = join(directory, 'core.dump')
    const name = new URL(schema.location).searchParams.get('application_name')!
    const run = (program: string, ...args: string[]) => execFileSync(join(postgresBinaries()!, program), args)
    await expectRestored({
      dataDir: join(directory, 'data'),
      databaseUrl: schema.location,
      dump: () => run('pg_dump', '--format=custom', `--schema=${name}`, `--file=${dump}`, serverUrl()),
      restoreDump: () => run('pg_restore', '--clean', '--if-exists', `--dbname=${serverUrl()}`, dump),
    })
  }, 180_000)
})
