import { afterEach, beforeEach, expect, test } from 'vitest'
import { IngestAuthWorld } from './ingest-auth-world.ts'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const importedToken = 'a-token-of-the-old-collector-12345'

test('A-4: a secret is in exactly one answer, and in no other answer, log line, file or audit record', async () => {
  const secrets = [world.keys.Editor, world.keys.Viewer]
  for (let index = 0; index < 3; index += 1) {
    const { json } = await world.call('POST', '/tokens', {
      json: { name: `t${index}` },
      headers: { 'idempotency-key': `k${index}` },
    })
    secrets.push(json.token)
    await world.call('POST', '/tokens', { json: { name: `t${index}` }, headers: { 'idempotency-key': `k${index}` } })
    const rotated = await world.call('POST', `/tokens/${json.id}/rotate`)
    secrets.push(rotated.json.token)
    await world.call('PATCH', `/tokens/${json.id}`, { json: { disabled: true } })
  }
  const { json: apiKey } = await world.call('POST', '/api/v1/api_keys', { json: { name: 'bot', role: 'Admin' } })
  secrets.push(apiKey.key)
  await world.call('POST', '/tokens/import', { json: { name: 'old', token: importedToken } })

  // All places in which a user may put a secret by mistake.
  for (const secret of [...secrets, importedToken]) {
    const json = { token: secret }
    await world.call('POST', '/tokens/verify', { json })
    await world.call('POST', '/tokens/verify', { json: { token: secret, signal: secret } })
    await world.call('POST', '/tokens/import', { json: { name: 'again', ...json } })
    await world.call('POST', '/tokens', { json: { name: 'x', signals: [secret] } })
    await world.call('POST', '/tokens', { body: `{"name":"${secret}`, headers: { 'content-type': 'application/json' } })
    await world.call('DELETE', `/tokens/${secret}`)
    await world.call('GET', `/tokens/${secret}`)
    await world.call('GET', `/tokens?cursor=${secret}&status=${secret}`)
    await world.call('PATCH', `/tokens/${secret}`, { json: { name: 'x' }, headers: { 'if-match': secret } })
    await world.call('PUT', '/state', { json: { enabled: secret } })
    await world.call('GET', '/state', { as: `${secret}x` })
    await world.call('POST', '/tokens', { json: { name: 'y' }, headers: { 'idempotency-key': secret } })
    await world.call('GET', `/api/v1/ingest_auth/${secret}`)
  }
  for (const path of ['/tokens?status=all', '/audit?limit=100', '/state', '/readiness', '/api/v1/api_keys']) {
    await world.call('GET', path)
  }
  // Failures are logged with the message of the database.
  await world.db.write((tx) => tx.schema.alterTable('ingest_tokens').renameTo('lost').execute())
  for (const secret of secrets) await world.call('DELETE', `/tokens/${secret}`)
  await world.call('POST', '/tokens/import', { json: { name: 'old', token: importedToken } })
  expect(world.logLines.length).toBeGreaterThan(0)

  const inAnswers = (text: string) => world.answers.filter((answer) => answer.includes(text)).length
  const onDisk = world.fileBytes()
  expect(onDisk.length).toBeGreaterThan(1)
  for (const secret of secrets) {
    // Not even a part of the secret, which follows the public id, may appear.
    const [, , hidden = ''] = secret.split('_')
    expect(hidden).toHaveLength(49)
    expect(inAnswers(hidden.slice(0, 16))).toBe(1)
    expect(world.logLines.filter((line) => line.includes(hidden.slice(0, 16)))).toEqual([])
    expect(onDisk.filter((bytes) => bytes.includes(hidden.slice(0, 16)))).toEqual([])
  }
  expect(inAnswers(importedToken)).toBe(0)
  expect(world.logLines.filter((line) => line.includes(importedToken))).toEqual([])
  expect(onDisk.filter((bytes) => bytes.includes(importedToken))).toEqual([])
})
