import { ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../collector/free-port.ts'
import { penstock } from '../command-line.ts'
import { until } from '../gateway/until.ts'
import { serving } from './serving.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('health asks the address of the settings, and exits with 0 if the service is ready', async () => {
  await using directory = await temporaryDirectory()
  const [management, core] = [await freePort(), await freePort()]
  const env = {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_OBS_LISTEN: `127.0.0.1:${management}`,
    PENSTOCK_CORE_LISTEN: `127.0.0.1:${core}`,
  }
  expect(await penstock(['health'], { env })).toMatchObject({
    exitCode: 1,
    stderr: `http://127.0.0.1:${management}/readyz: ECONNREFUSED\n`,
  })
  const service = await serving([], env)
  expect(await penstock(['health'], { env })).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
  expect(await penstock(['health', 'core'], { env })).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
  // A service that listens on every interface is asked on loopback.
  const everywhere = { ...env, PENSTOCK_OBS_LISTEN: `0.0.0.0:${management}` }
  expect(await penstock(['health', 'gateway'], { env: everywhere })).toMatchObject({ exitCode: 0 })
  await service.end()
})

test('a service is ready only when its first key and the core are there', async () => {
  await using directory = await temporaryDirectory()
  const [management, core] = [await freePort(), await freePort()]
  const starting = serving([], {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_OBS_LISTEN: `127.0.0.1:${management}`,
    PENSTOCK_CORE_LISTEN: `127.0.0.1:${core}`,
    PENSTOCK_OBS_API_KEY: 'the-key-of-this-very-test',
  })
  const url = `http://127.0.0.1:${management}`
  await until('it is ready', () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const headers = { 'obs-api-key': 'the-key-of-this-very-test' }
  expect((await fetch(`${url}/api/v1/ingest_auth/state`, { headers })).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${core}/-/readiness`)).status).toBe(200)
  await (await starting).end()
})

test('health reports the status of a service that is not ready', async () => {
  const server = await ScriptedServer.start(() => ({ play: 'reply', status: 503 }))
  onTestFinished(() => server.close())
  const url = `${server.url}/readyz`
  expect(await penstock(['health', '--url', url])).toMatchObject({ exitCode: 1, stderr: `${url}: answered 503\n` })
})

test.each([
  ['24.21.0', 'package', /^ok {4}Node 24\.21\.0: CI runs tests with this version$/m, 0],
  ['22.12.0', 'checkout', /^note {2}Node 22\.12\.0: no test runs with this version: use Node 20 or 24$/m, 0],
  ['20.18.0', 'image', /^WRONG Node 20\.18\.0 is older than 20\.19\.0: use Node 20 or 24$/m, 1],
] as const)('doctor judges Node %s in a %s', async (nodeVersion, kind, line, exitCode) => {
  await using directory = await temporaryDirectory()
  const installation = { nodeVersion, kind }
  const outcome = await penstock(['doctor', '--data-dir', `${directory.path}/new`], { installation })
  expect(outcome.stdout).toMatch(line)
  expect(outcome.stdout).toMatch(
    /^ok {4}penstock \d+\.\d+\.\d+, (?:installed as a package|run from a checkout|in an image)$/m,
  )
  expect(outcome.exitCode).toBe(exitCode)
})
