import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { hookLine, ndjson, penstock, pipeline, temporaryDirectory } from './command-line.ts'

/** The command as it is installed; it runs what the build has made. */
const bin = join(import.meta.dirname, '../../packages/cli/bin/penstock.mjs')

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH ?? '', ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function finish(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ])
  return { exitCode: exitCode as number, stdout, stderr }
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  try {
    for await (const part of stream) parts.push(part)
  } catch {
    // Destroyed by the test: what was read counts.
  }
  return Buffer.concat(parts).toString()
}

test('converts as it does in process', async () => {
  const args = ['convert', pipeline('push-pipeline-five-jobs-three-stages')]
  const { exitCode, stdout, stderr } = await finish(start(args))
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toBe((await penstock(args)).stdout)
})

test('reads standard input and says 1 and 2', async () => {
  const refusing = start(['convert', '-'])
  refusing.stdin.end('{"object_kind":')
  expect(await finish(refusing)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'stdin: line 1, column 16: ends before the JSON is complete\n',
  })
  expect((await finish(start(['convert', '--frobnicate', 'x']))).exitCode).toBe(2)
})

test('shows the samples', async () => {
  const { exitCode, stdout } = await finish(start(['show', '--sample']))
  expect(exitCode).toBe(0)
  expect(stdout).toContain('✓ RUN tide-tables #31')
})

test('exports with the token of the environment', async () => {
  const server = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
  onTestFinished(() => server.close())
  const args = ['export', pipeline('push-pipeline-five-jobs-three-stages'), '--endpoint', server.url]
  const { exitCode, stdout } = await finish(start(args, { PENSTOCK_EXPORT_TOKEN: 'of-the-environment' }))
  expect(exitCode).toBe(0)
  expect(stdout).toContain('everything accepted')
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill('Bearer of-the-environment'),
  )
})

test('ends quietly when its reader does', async () => {
  const child = start(['convert', '-'])
  child.stdin.on('error', () => {})
  child.stdin.end(ndjson(Array.from({ length: 2_000 }, (_, at) => hookLine(at + 1))))
  child.stdout.once('data', () => child.stdout.destroy())
  const { exitCode, stderr } = await finish(child)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

test('SIGINT ends it with 130 and no stack trace', async () => {
  const child = start(['convert', '-'])
  child.stdin.write(`${hookLine(1)}\n`)
  child.stdout.once('data', () => child.kill('SIGINT'))
  const { exitCode, stderr } = await finish(child)
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })
})

test('a document of 100 MB is refused', async () => {
  await using directory = await temporaryDirectory()
  const path = await directory.file('large.json', '{\n')
  const file = await open(path, 'r+')
  await file.truncate(100_000_000)
  await file.close()
  const { exitCode, stdout, stderr } = await finish(start(['convert', path]))
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toContain('large.json: is longer than 67,108,864 bytes')
})
