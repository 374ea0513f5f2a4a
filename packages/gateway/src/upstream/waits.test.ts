import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'

const LOCAL = 'a file of this machine'
const CALLED = 'the waits of the called function, which are listed here too'

/**
 * Every wait of this folder, with what limits its time. A wait is an `await`, a `new Promise` or a `.then`, which the beginning of its
 * source text identifies.
 */
const deadlines: Readonly<Record<string, readonly (readonly [wait: string, deadline: string])[]>> = {
  'addresses.ts': [
    ['await lookup(host', 'RESOLVE_TIMEOUT_MS, because only `Addresses` calls it'],
    ['await within(RESOLVE_TIMEOUT_MS', 'RESOLVE_TIMEOUT_MS'],
  ],
  'credential.ts': [['await WatchedFile.open', LOCAL]],
  'deadline.ts': [
    ['clock.sleep(ms, done.signal).then', 'the given limit'],
    ['await Promise.race([work, late])', 'the given limit'],
  ],
  'grpc-body.ts': [
    ['await collect(', 'the time limits of the listener for a body that does not arrive'],
    ['await inflate(', 'bounded bytes in memory'],
    ['await gunzipBody(', 'bounded bytes in memory'],
    ['for await (const part of body', 'the time limits of the listener for a body that does not arrive'],
  ],
  'grpc-reply.ts': [['await gunzipped(', 'bounded bytes in memory']],
  'grpc-sessions.ts': [
    ['await this.#connecting?.catch', CALLED],
    ['await Promise.all([...this.#retired]', CALLED],
    ['await this.#nextAddress()', CALLED],
    ['new Promise<void>((resolve, reject) => {', 'connectTimeoutMs, see the next row'],
    ['await within(this.#limits.connectTimeoutMs', 'connectTimeoutMs'],
    ['await this.#addresses.refresh()', CALLED],
    ['new Promise<never>((_, reject)', 'connectTimeoutMs, because it ends the wait for the SETTINGS'],
    ['await this.#clock.sleep(MAINTENANCE_INTERVAL_MS', 'MAINTENANCE_INTERVAL_MS'],
    ['this.#clock.sleep(this.#limits.pingTimeoutMs, answered.signal).then', 'pingTimeoutMs'],
    ['await timeout', 'pingTimeoutMs'],
    ["new Promise<void>((resolve) => http2.once('close'", 'closeTimeoutMs, see the next row'],
    ['await within(this.#limits.closeTimeoutMs', 'closeTimeoutMs'],
  ],
  'grpc-upstream.ts': [
    ['await this.#messageOf(', CALLED],
    ['await this.#sendMessage(', CALLED],
    ['await this.#attempt(', CALLED],
    ['await this.#attempt(', CALLED],
    ['await within(deadlineMs', 'the deadline of the request'],
    ['new Promise((resolve) => {', 'the deadline of the request, which the sweep enforces'],
    ['await this.#deps.clock.sleep(SWEEP_MS)', 'SWEEP_MS'],
    ['await answerOf(', CALLED],
  ],
  'http-request-sender.ts': [['Promise.all([addresses, secret, trust]).then', 'the timer of the request']],
  'http-targets.ts': [
    ['await Promise.all(this.all.map', CALLED],
    ['await within(CLOSE_TIMEOUT_MS', 'CLOSE_TIMEOUT_MS'],
  ],
  'http-upstream.ts': [
    ['await openUpstreamCredential(', LOCAL],
    ['await WatchedFile.open(', LOCAL],
    ['new Promise((resolve, reject) => new HttpRequestSender', 'the timer of the request'],
  ],
  'open-upstreams.ts': [
    ['await openUpstream(', LOCAL],
    ['await open(config.upstream)', LOCAL],
    ['await open(upstream)', LOCAL],
    ['await Promise.all([fallback', CALLED],
    ['await openUpstreamCredential(', LOCAL],
    ['await WatchedFile.open(', LOCAL],
  ],
  'watched-file.ts': [
    ['await versionOf(', LOCAL],
    ['await readFile(', LOCAL],
    ['await versionOf(', LOCAL],
    ['await readFile(', LOCAL],
    ['await stat(', LOCAL],
  ],
}

interface Node {
  readonly type: string
  readonly start: number
  readonly await?: boolean
  readonly callee?: Node & { readonly name?: string; readonly property?: { readonly name?: string } }
}

const isWait = ({ type, await: isAwaited, callee }: Node): boolean =>
  type === 'AwaitExpression' ||
  (type === 'ForOfStatement' && isAwaited === true) ||
  (type === 'NewExpression' && callee?.name === 'Promise') ||
  (type === 'CallExpression' && callee?.property?.name === 'then')

/** Returns the source text of every wait, in the order of the file, from its first character. */
function waitsIn(source: string): string[] {
  const starts: number[] = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    if ('type' in value && isWait(value as Node)) starts.push((value as Node).start)
    Object.values(value).forEach(walk)
  }
  walk(parseAst(source, { lang: 'ts' }))
  return starts.toSorted((a, b) => a - b).map((start) => source.slice(start, start + 120))
}

const files = readdirSync(import.meta.dirname).filter((file) => /^[a-z0-9-]+\.ts$/.test(file))

test.each(files)('X-6: every wait of %s has a time limit', (file) => {
  const waits = waitsIn(readFileSync(join(import.meta.dirname, file), 'utf8'))
  const known = deadlines[file] ?? []
  const unlisted = waits.filter((text, index) => !text.startsWith(known[index]?.[0] ?? '\0'))
  expect(unlisted).toEqual([])
  expect(waits).toHaveLength(known.length)
})
