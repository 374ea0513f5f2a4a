import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'

const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Starts the receiver, runs `use` with its URL, stops it, and returns what it printed and its exit code. */
async function receiving(args: readonly string[], env: Record<string, string>, use: (url: string) => Promise<void>) {
  const stopper = new AbortController()
  const stderr = new Sink()
  const url = new Promise<string>((resolve) => stderr.onWrite((text) => resolve(/http:\S+/.exec(text)?.[0] ?? text)))
  const stdout = new Sink()
  const ended = penstock(['hooks', 'receive', '--listen', '127.0.0.1:0', ...args], {
    env,
    stdout,
    stderr,
    signal: stopper.signal,
  })
  try {
    await use(await url)
  } finally {
    stopper.abort()
  }
  return { exitCode: (await ended).exitCode, lines: stdout.text.trimEnd().split('\n') }
}

const post = async (url: string, body: string, headers: Record<string, string> = {}) =>
  (await fetch(url, { method: 'POST', body, headers: { 'X-Svc-Event': 'Push Hook', ...headers } })).status

const signed = (body: string) => ({
  'webhook-id': 'msg-1',
  'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
  'webhook-signature': new Webhook(token).sign('msg-1', new Date(), body),
})

test('prints each webhook with what its signature says, and refuses what is not verified', async () => {
  const body = '{"object_kind":"push"}'
  const { exitCode, lines } = await receiving(['--body'], { PENSTOCK_HOOK_SIGNING_TOKEN: token }, async (url) => {
    expect(await post(url, body, signed(body))).toBe(204)
    expect(await post(url, '{"a":"\u001b[2J"}', signed(body))).toBe(401)
    expect(await post(url, body)).toBe(401)
    expect((await fetch(url)).status).toBe(405)
  })
  expect(exitCode).toBe(0)
  expect(lines.map((line) => line.replace(/^\S+Z {2}/, ''))).toEqual([
    'Push Hook  verified  22 B  msg-1',
    body,
    'Push Hook  invalid  12 B  msg-1',
    '{"a":"\ufffd[2J"}',
    'Push Hook  unsigned  22 B  -',
    body,
  ])
})

test('without a token, signatures are not checked; a body that is too long is refused', async () => {
  const { lines } = await receiving([], {}, async (url) => {
    expect(await post(url, '{}', { 'Idempotency-Key': 'key-1' })).toBe(204)
    const long = await post(url, 'x'.repeat(25 * 1024 * 1024 + 1)).catch(() => 413)
    expect(long).toBe(413)
  })
  expect(lines.map((line) => line.replace(/^\S+Z {2}/, ''))).toEqual(['Push Hook  unchecked  2 B  key-1'])
})

test('a wrong token, a wrong address and a used port are usage errors', async () => {
  const failure = async (args: string[], env = {}) => {
    const { exitCode, stderr } = await penstock(['hooks', ...args], { env })
    return [exitCode, stderr]
  }
  expect(await failure(['receive'], { PENSTOCK_HOOK_SIGNING_TOKEN: 'whsec_secret' })).toEqual([
    2,
    'penstock: PENSTOCK_HOOK_SIGNING_TOKEN must be whsec_ and 32 bytes in Base64\n',
  ])
  expect((await failure(['receive', '--listen', 'nowhere']))[0]).toBe(2)
  expect((await failure(['send']))[0]).toBe(2)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  expect(await failure(['receive', '--listen', `127.0.0.1:${port}`])).toEqual([
    2,
    `penstock: cannot listen on 127.0.0.1:${port}: EADDRINUSE\n`,
  ])
  taken.close()
})
