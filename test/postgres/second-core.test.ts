import { mkdtempSync, rmSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporarySchema } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { CoreProcess } from '../core/core-process.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

describeWithPostgres('a core on a second host', (serverUrl) => {
  test('starts only with the key of the first one, and then reads what that one has encrypted', async () => {
    const schema = await temporarySchema(serverUrl())
    const [firstDir, secondDir] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'penstock-second-')))
    onTestFinished(async () => {
      await schema.remove()
      for (const directory of [firstDir!, secondDir!]) rmSync(directory, { recursive: true, force: true })
    })
    const databaseUrl = schema.location
    await using first = await CoreProcess.start(firstDir!, { databaseUrl })
    const { id } = await first.must('POST', '/projects', { name: 'tools', path: 'tools' })
    await first.must('POST', `/projects/${id}/variables`, { key: 'SECRET', value: 'open-sesame' })
    await expect(CoreProcess.start(secondDir!, { databaseUrl })).rejects.toThrow(/there is no secrets\.key in /)
    await writeFile(join(secondDir!, 'secrets.key'), `${'5'.repeat(64)}\n`, { mode: 0o600 })
    await expect(CoreProcess.start(secondDir!, { databaseUrl })).rejects.toThrow(/secrets\.key is not the key that/)
    await copyFile(join(firstDir!, 'secrets.key'), join(secondDir!, 'secrets.key'))
    await using second = await CoreProcess.start(secondDir!, { databaseUrl })
    expect(await second.must('GET', `/projects/${id}/variables/SECRET`)).toMatchObject({ value: 'open-sesame' })
  })
})
