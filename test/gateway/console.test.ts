import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { ADMIN_KEY, type RunningGateway, startGateway } from './running-gateway.ts'

const post = (gateway: RunningGateway, body: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.managementUrl}/api/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const link = (gateway: RunningGateway, ...args: string[]) =>
  penstock(['console', 'link', ...args], {
    env: { PENSTOCK_DATA_DIR: gateway.dataDir, PENSTOCK_OBS_LISTEN: new URL(gateway.managementUrl).host },
  })

describe('penstock console link', () => {
  test('prints a link with a code that signs one browser in to the running gateway', async () => {
    const gateway = await startGateway()
    const { stdout, exitCode } = await link(gateway)
    const [, address, code] = /^(http:\S+)\/#code=([0-9A-Za-z]{43})\n$/.exec(stdout)!
    expect([exitCode, address]).toEqual([0, gateway.managementUrl])
    const first = await post(gateway, { code })
    expect([first.status, await first.json()]).toMatchObject([201, { role: 'Admin', observe: { connected: true } }])
    expect((await post(gateway, { code })).status).toBe(401)
    expect(gateway.logs()).not.toContain(code)
  })

  test('makes a session of another key with --key, and refuses unknown ids', async () => {
    const gateway = await startGateway()
    const key = await penstock(['api-key', 'create', '--name', 'mira', '--role', 'Viewer'], {
      env: { PENSTOCK_DATA_DIR: gateway.dataDir },
    })
    const id = /created API key (\w+)/.exec(key.stderr)![1]!
    const { stdout } = await link(gateway, '--key', id)
    const session = await post(gateway, { code: stdout.trim().split('#code=')[1] })
    expect(await session.json()).toMatchObject({ role: 'Viewer', key_name: 'mira' })
    expect(await link(gateway, '--key', 'no-such-id00')).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('uses the address of the proxy if it is set, and refuses a port that is not known', async () => {
    const gateway = await startGateway()
    const env = { PENSTOCK_DATA_DIR: gateway.dataDir }
    const external = { ...env, PENSTOCK_OBS_EXTERNAL_URL: 'https://observe.example/' }
    expect((await penstock(['console', 'link'], { env: external })).stdout).toMatch(
      /^https:\/\/observe\.example\/#code=/,
    )
    const unknown = await penstock(['console', 'link'], { env: { ...env, PENSTOCK_OBS_LISTEN: '127.0.0.1:0' } })
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('PENSTOCK_OBS_EXTERNAL_URL') })
    const everywhere = await penstock(['console', 'link'], { env: { ...env, PENSTOCK_OBS_LISTEN: '[::]:9000' } })
    expect(everywhere.stdout).toMatch(/^http:\/\/\[::1\]:9000\/#code=/)
  })
})

test('the hint of a running service prints a link to it', async () => {
  const gateway = await startGateway()
  const hint = /with a link of: (.+) npx penstock (.+)\n/.exec(gateway.banner())!
  const env = Object.fromEntries(hint[1]!.split(' ').map((variable) => variable.split('=', 2) as [string, string]))
  expect(Object.keys(env)).toEqual(['PENSTOCK_DATA_DIR', 'PENSTOCK_OBS_LISTEN'])
  const { stdout } = await penstock(hint[2]!.split(' '), { env })
  expect(stdout).toContain(`${gateway.managementUrl}/#code=`)
})

test('a session reads observe routes, which other callers may not', async () => {
  const gateway = await startGateway()
  const url = `${gateway.managementUrl}/api/v1/observe/services`
  expect((await fetch(url)).status).toBe(401)
  const signedIn = await post(gateway, { api_key: ADMIN_KEY })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  expect((await fetch(url, { headers: { cookie } })).status).toBe(200)
})
