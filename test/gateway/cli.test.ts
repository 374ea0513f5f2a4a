import { expect, test } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { CountingSink } from './counting-sink.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { ADMIN_KEY, type RunningGateway, startGateway } from './running-gateway.ts'

/** The time within which a process that polls must apply a change (T-13). */
const BOUND_MS = 2_000

async function startWithCli() {
  const sink = await CountingSink.start()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const cli = (args: readonly string[], stdin = '') =>
    penstock(args, { stdin, env: { PENSTOCK_DATA_DIR: gateway.dataDir } })
  return { sink, gateway, cli, [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose]() }
}

async function exportStatus({ otlpUrl }: RunningGateway, token: string): Promise<number> {
  const headers = { 'content-type': 'application/x-protobuf', authorization: `Bearer ${token}` }
  const response = await fetch(`${otlpUrl}/v1/traces`, { method: 'POST', headers, body: numberedBody(idOf(1)) })
  await response.arrayBuffer()
  return response.status
}

/** Returns how long after the end of the command the gateway applies the change. */
async function appliedAfterMs(gateway: RunningGateway, token: string, status: number): Promise<number> {
  const startMs = performance.now()
  await expect.poll(() => exportStatus(gateway, token), { interval: 20 }).toBe(status)
  return performance.now() - startMs
}

const secretOf = ({ stdout }: Outcome) => stdout.trimEnd()
const idIn = ({ stderr }: Outcome) => /^created (?:token|API key) (\w+)/m.exec(stderr)![1]!

test('token create, rotate and revoke take effect in a running gateway within 2 s', async () => {
  await using world = await startWithCli()
  const { gateway, cli } = world
  await gateway.token({ name: 'kept' })
  await gateway.enforce(true)

  const created = await cli(['token', 'create', '--name', 'ci-runners', '--signals', 'traces'])
  expect(created.exitCode).toBe(0)
  expect(created.stdout).toMatch(/^psin_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/)
  const delays = [await appliedAfterMs(gateway, secretOf(created), 200)]

  const rotated = await cli(['token', 'rotate', idIn(created), '--overlap', '3600'])
  expect(rotated.stdout).toMatch(/^psin_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/)
  delays.push(await appliedAfterMs(gateway, secretOf(rotated), 200))
  expect(await exportStatus(gateway, secretOf(created))).toBe(200)

  for (const outcome of [created, rotated]) {
    expect(await cli(['token', 'revoke', idIn(outcome)])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: `revoked token ${idIn(outcome)}\n`,
    })
    delays.push(await appliedAfterMs(gateway, secretOf(outcome), 401))
  }
  console.log(`commands take effect ${delays.map((ms) => ms.toFixed(0)).join(', ')} ms after their end`)
  expect(Math.max(...delays)).toBeLessThan(BOUND_MS)
})

test('T-15: token import reads standard input, prints no secret, and existing clients keep working', async () => {
  await using world = await startWithCli()
  const { gateway, cli } = world
  await gateway.token()
  await gateway.enforce(true)
  const old = 'the-bearer-token-of-the-old-collector'
  const imported = await cli(['token', 'import', '--name', 'old collector'], `${old}\n`)
  expect(imported).toMatchObject({ exitCode: 0, stdout: '' })
  expect(imported.stderr).toMatch(/^imported token \w{12}\n$/)
  expect(await appliedAfterMs(gateway, old, 200)).toBeLessThan(BOUND_MS)
})

test('api-key create and revoke take effect in a running gateway with the next call', async () => {
  await using world = await startWithCli()
  const { gateway, cli } = world
  const created = await cli(['api-key', 'create', '--name', 'alice', '--role', 'Viewer'])
  const read = (method = 'GET', key = secretOf(created)) =>
    fetch(`${gateway.managementUrl}/api/v1/ingest_auth/state`, {
      method,
      headers: { 'obs-api-key': key, 'content-type': 'application/json' },
      ...(method === 'PUT' && { body: '{"enabled":true}' }),
    }).then(({ status }) => status)
  expect([await read(), await read('PUT')]).toEqual([200, 403])
  expect((await cli(['api-key', 'revoke', idIn(created)])).exitCode).toBe(0)
  expect(await read()).toBe(401)
  expect(await read('GET', ADMIN_KEY)).toBe(200)
})

test('A-1: the command line cannot revoke the last valid token under enforcement either', async () => {
  await using world = await startWithCli()
  const { gateway, cli } = world
  const { id, token } = await gateway.token()
  await gateway.enforce(true)
  const refused = await cli(['token', 'revoke', id])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^penstock: [^\n]*last valid[^\n]*\n$/i)
  expect(await exportStatus(gateway, token)).toBe(200)
})

test('O-14: actions of the command line are audited with the actor operator', async () => {
  await using world = await startWithCli()
  const { gateway, cli } = world
  const created = await cli(['token', 'create', '--name', 'ci'])
  await cli(['token', 'revoke', idIn(created)])
  const { json } = await gateway.call<{ event: string; actor?: { id: string } }[]>('GET', '/audit')
  const ours = json.filter(({ actor }) => actor?.id === 'operator')
  expect(ours.map(({ event }) => event)).toEqual(['token.revoked', 'token.created'])
})
