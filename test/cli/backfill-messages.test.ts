import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeRequest } from '@penstock/otlp'
import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { finished, penstock, Sink, startPenstock } from '../command-line.ts'
import { accepted, type Backfill, backfill, idsUpTo, receiver, stateFile, tracesOf, upTo } from './backfill-run.ts'
import { forgeToken, ScriptedForge } from './scripted-forge.ts'

const traces = ['--signals', 'traces', '--concurrency', '1']
const env = { PENSTOCK_FORGE_TOKEN: forgeToken }

const started = ({ from, endpoint, state }: Backfill) =>
  startPenstock(
    ['backfill', '--from', from, '--project', '17', '--endpoint', endpoint, '--state-file', state, ...traces],
    env,
  )

/** Starts a forge and a receiver that answers the third request only when the gate opens. */
async function stage() {
  const forge = await ScriptedForge.start(upTo(5))
  const gate = new Gate()
  const server = await receiver((_, index) =>
    index === 2 ? { play: 'reply', status: 200, after: gate.opened } : accepted,
  )
  const run: Backfill = { from: forge.server.url, endpoint: server.url, state: await stateFile(), flags: traces }
  return { forge, server, gate, run }
}

describe('two runs on one state file', () => {
  test('the second is refused with the process id of the first, which continues', async () => {
    const { forge, server, gate, run } = await stage()
    const first = started(run)
    const firstOutcome = finished(first)
    await server.received(3)
    const requests = forge.server.requests.length
    const second = await finished(started(run))
    expect(second).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr:
        `penstock: another penstock backfill (process ${first.pid}) is using ${run.state}: ` +
        'wait for its end or stop it, then run the same command again\n',
    })
    expect(forge.paths.slice(requests).filter((path) => path.includes('/pipelines'))).toEqual([])
    gate.open()
    expect((await firstOutcome).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(idsUpTo(5))
    expect((await finished(started(run))).stdout).toContain('nothing to send')
  })

  test('a killed run does not block the next one', async () => {
    const { server, gate, run } = await stage()
    const killed = started(run)
    const outcome = finished(killed)
    await server.received(3)
    killed.kill('SIGKILL')
    expect((await outcome).exitCode).toBe(null)
    expect(await readdir(dirname(run.state))).toEqual(['state', 'state.lock'])
    gate.open()
    expect((await finished(started(run))).exitCode).toBe(0)
    expect(tracesOf(server.requests)).toEqual(['1', '2', '3', '3', '4', '5'])
  })
})

test('an interruption prints its advice immediately', async () => {
  const { server, run } = await stage()
  const interruption = new AbortController()
  const stderr = new Sink()
  const running = backfill({ ...run, world: { env, stderr, signal: interruption.signal } })
  await server.received(3)
  interruption.abort()
  const line = `run the same command again to continue; accepted pipelines are recorded in ${run.state}\n`
  expect(stderr.text).toBe(line)
  const { exitCode, stdout } = await running
  expect(exitCode).toBe(130)
  expect(stdout).toMatch(/stopped: interrupted\n$/)
  expect(stderr.text.split(line)).toHaveLength(2)
})

test('a refusal of the first list prints the message of the forge and no table of exports', async () => {
  const { forge, run } = await stage()
  const said = `status does not\u001b have a valid\n value: ${forgeToken} ${'x'.repeat(1_000)}`
  forge.trouble = ({ path }) =>
    path.includes('status=banana') ? { play: 'reply', status: 400, body: JSON.stringify({ error: said }) } : undefined
  const { exitCode, stdout, stderr } = await backfill({ ...run, flags: [...traces, '--status', 'banana'] })
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^ops\/tools: \/projects\/17\/pipelines: HTTP 400 Bad Request: status does not\ufffd have a valid value: \[token\] x{100,300}…\n$/,
  )
  expect(stdout).toMatch(/\nnothing was sent\n$/)
})

test.each([
  { body: '', quoted: '' },
  { body: '<html>', quoted: '' },
  { body: 'null', quoted: '' },
  { body: '{"message":{"base":["odd"]}}', quoted: '' },
  {
    body: '{"error":"invalid_request","error_description":"per_page is too large"}',
    quoted: ': per_page is too large',
  },
  { body: `{"message":"${'x'.repeat(70_000)}"}`, quoted: '' },
])('an answer of $body.length characters is quoted as: $quoted', async ({ body, quoted }) => {
  const { forge, run } = await stage()
  forge.trouble = () => ({ play: 'reply', status: 422, body })
  expect((await backfill(run)).stderr).toBe(`penstock: /projects/ops%2Ftools: HTTP 422 Unprocessable Entity${quoted}\n`)
})

test('help lists the flags of a backfill', async () => {
  const stdout = new Sink({ columns: 200 })
  await penstock(['backfill', '--help'], { stdout })
  expect(stdout.text).toMatch(/--metrics-mode <choice> .*\(choices: "per-run"\)/)
  expect(stdout.text).not.toMatch(/windowed|cumulative/)
  expect(stdout.text).toMatch(/--signals <list> .*\(default: the signals in SVC_OBSERVABILITY_EXPORT, else all\)/)
})

test('a refused run does not change the state file', async () => {
  const { server, gate, run } = await stage()
  const first = backfill(run)
  await server.received(3)
  const before = await readFile(run.state, 'utf8')
  expect((await backfill(run)).exitCode).toBe(2)
  expect(await readFile(run.state, 'utf8')).toBe(before)
  gate.open()
  expect((await first).exitCode).toBe(0)
})

test('the commit is read from REST jobs or bridges, and the merge request from the ref', async () => {
  const forge = await ScriptedForge.start([{ id: 31, jobs: 0 }])
  const server = await receiver()
  const begin = '2026-02-11T09:20:14.000Z'
  const sha = 'a'.repeat(40)
  const run = {
    id: 31,
    status: 'success',
    sha,
    ref: 'refs/merge-requests/7/head',
    created_at: begin,
    finished_at: begin,
  }
  const commit = { id: sha, title: 'Fix the tide', message: 'Fix the tide\n' }
  const bridge = { id: 380, name: 'children', stage: 'build', status: 'success', created_at: begin, commit }
  forge.trouble = ({ path }) => {
    const value = path.includes('/31/trigger_jobs') ? [bridge] : path.endsWith('/31') ? run : undefined
    return value && { play: 'reply', status: 200, headers: { 'x-next-page': '' }, body: JSON.stringify(value) }
  }
  await backfill({ from: forge.server.url, endpoint: server.url, state: await stateFile(), flags: traces })
  const { resources } = decodeRequest('traces', server.requests[0]!.body, 'protobuf')
  const [span] = resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
  const wanted =
    /^(vcs\.(change|ref\.(base|head\.name))|pipeline\.(commit|merge_request|protected)|svc\.vcs\.ref\.head\.protected)/
  expect(
    Object.fromEntries(
      span!.attributes.map(({ key, value }) => [key, String(value)]).filter(([key]) => wanted.test(key!)),
    ),
  ).toEqual({
    'pipeline.commit.id': sha,
    'pipeline.commit.message': commit.message,
    'pipeline.merge_request.iid': '7',
    'vcs.change.id': '7',
    'vcs.ref.head.name': 'refs/merge-requests/7/head',
  })
})

test('a forge with an API that is not read is refused before any request', async () => {
  const [from, endpoint] = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
  const { exitCode, stderr } = await backfill({
    from,
    endpoint,
    state: await stateFile(),
    flags: ['--forge', 'cdevents'],
  })
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: --forge cdevents: backfill reads the API of gitlab, github, [a-z, ]+ only\n$/)
})
