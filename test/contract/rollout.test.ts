import { expect } from 'vitest'
import { ADMIN_KEY, type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { curlCommands, runAgainst, shellBlocks, shellFunction, testWithCurl } from '../page-commands.ts'

const blocks = shellBlocks('docs/guides/rollout.md')
/** The curl commands of docs/guides/rollout.md, in order. */
const commands = curlCommands(blocks)

let gateway: RunningGateway

async function curl(command: string | undefined, variables: Record<string, string> = {}) {
  const script = `${shellFunction(blocks, 'obs')}${command} --silent --show-error --write-out '\n%{http_code}'`
  const { exitCode, stdout, stderr } = await runAgainst(gateway, script, { OBS_API_KEY: ADMIN_KEY, ...variables })
  if (exitCode !== 0) throw new Error(`${command}: ${stderr}`)
  const [, text = '', status] = /^([\s\S]*)\n(\d+)$/.exec(stdout)!
  return { status: Number(status), json: text === '' ? undefined : JSON.parse(text) }
}

async function exported(token?: string) {
  const { status, headers } = await fetch(`${gateway.otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: '{}',
  })
  return [status, headers.has('retry-after')]
}

const findCommand = (path: string, method = 'GET', body = '') =>
  commands.find((command) => {
    const [, stated = 'GET'] = /^obs -X (\w+)/.exec(command) ?? []
    return stated === method && command.includes(path) && command.includes(body)
  })

testWithCurl(
  'docs/guides/rollout.md: every command works as described, from no enforcement to enforcement and back',
  async () => {
    gateway = await startGateway()
    expect(commands).toHaveLength(14)

    const created = await curl(findCommand('/tokens', 'POST'))
    expect(created).toMatchObject({ status: 201, json: { name: 'ci-runners', expires_at: null } })
    const { id, token } = created.json

    expect(await curl(findCommand('/state', 'PUT', '"report"'))).toMatchObject({
      status: 200,
      json: { mode: 'report' },
    })
    expect([await exported(), await exported(token)]).toEqual([
      [200, false],
      [200, false],
    ])
    const readiness = await curl(findCommand('/readiness'))
    expect(readiness).toMatchObject({
      status: 200,
      json: { ready: false, requests: 2, would_reject: 1, clients: [{ reason: 'missing', signal: 'traces' }] },
    })
    expect(await curl(findCommand('/readiness?window=1h'))).toMatchObject({
      status: 200,
      json: { ready: false, window_seconds: 3600, blockers: [{ code: 'would_reject' }] },
    })
    expect(await curl(findCommand('/state', 'PUT', '"warn"'))).toMatchObject({ status: 200, json: { mode: 'warn' } })

    const enforce = findCommand('/state', 'PUT', 'true')!
    expect(await curl(enforce)).toMatchObject({ status: 409, json: { error: { code: 'not_ready' } } })
    expect(await curl(enforce.replace('?require_ready=true&window=1h', ''))).toMatchObject({
      status: 200,
      json: { enabled: true, mode: 'enforce' },
    })
    expect([await exported(), await exported(token)]).toEqual([
      [503, true],
      [200, false],
    ])

    expect(await curl(findCommand('/state', 'PUT', '"grace_seconds":0}'))).toMatchObject({
      status: 200,
      json: { enabled: true, grace_until: null },
    })
    expect([await exported(), await exported(token)]).toEqual([
      [401, false],
      [200, false],
    ])

    const rotated = await curl(findCommand('/rotate', 'POST'), { TOKEN_ID: id })
    expect(rotated).toMatchObject({ status: 201, json: { name: 'ci-runners', supersedes: id } })
    expect([await exported(token), await exported(rotated.json.token)]).toEqual([
      [200, false],
      [200, false],
    ])
    expect((await curl(findCommand('/tokens'))).json).toHaveLength(2)
    expect(await curl(findCommand('/tokens/', 'PATCH', '"expires_at":null'), { TOKEN_ID: id })).toMatchObject({
      status: 200,
      json: { expires_at: null },
    })
    expect(await curl(findCommand('/tokens/', 'DELETE'), { TOKEN_ID: id })).toMatchObject({ status: 204 })
    expect(await curl(findCommand('/tokens/', 'DELETE'), { TOKEN_ID: rotated.json.id })).toMatchObject({
      status: 409,
      json: { error: { code: 'last_valid_token' } },
    })

    expect(await curl(findCommand('/state', 'PUT', '{"enabled":false}'))).toMatchObject({
      status: 200,
      json: { mode: 'off' },
    })
    expect(await exported()).toEqual([200, false])
  },
)

testWithCurl('a new installation with a token and without unknown clients is ready immediately', async () => {
  gateway = await startGateway()
  await curl(findCommand('/tokens', 'POST'))
  expect(await curl(findCommand('/state', 'PUT', 'true'))).toMatchObject({ status: 200, json: { enabled: true } })
})

testWithCurl('docs/guides/rollout.md: a limited sender gets 429, and the documented metric counts it', async () => {
  gateway = await startGateway()
  const { id, token } = await gateway.token()
  const limit = findCommand('/tokens/', 'PATCH', '"limits"')!
  expect(await curl(limit, { TOKEN_ID: id })).toMatchObject({
    status: 200,
    json: { limits: { all: { second: { requests: 100 }, day: { bytes: 1_073_741_824 } } } },
  })
  // The limits on the page are too high for a short test, so this uses the same command with one request per day.
  await curl(limit.replace('"bytes":1073741824', '"requests":1'), { TOKEN_ID: id })
  expect([await exported(token), await exported(token)]).toEqual([
    [200, false],
    [429, true],
  ])
  const page = await runAgainst(gateway, findCommand('/metrics')!, {})
  expect(page.stdout).toContain(
    `otelcol_ingestauth_token_throttled{limit="all.day.requests",signal="traces",token_id="${id}"} 1`,
  )
})
