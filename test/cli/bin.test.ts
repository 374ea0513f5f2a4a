import { open } from 'node:fs/promises'
import { ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { finished, penstock, penstockProcess, startPenstock } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('converts with the same result as within the process', async () => {
  const args = ['convert', caseFile('push-pipeline-five-jobs-three-stages')]
  const { exitCode, stdout, stderr } = await penstockProcess(args)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toBe((await penstock(args)).stdout)
})

test('reads standard input and exits with 1 and 2', async () => {
  const refusing = startPenstock(['convert', '-'])
  refusing.stdin.end('{"object_kind":')
  expect(await finished(refusing)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: 'stdin: line 1, column 16: ends before the JSON is complete\n',
  })
  expect((await penstockProcess(['convert', '--frobnicate', 'x'])).exitCode).toBe(2)
})

test('shows the samples', async () => {
  const { exitCode, stdout } = await penstockProcess(['show', '--sample'])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('✓ RUN tide-tables #31')
})

test('exports with the token of the environment', async () => {
  const server = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
  onTestFinished(() => server.close())
  const args = ['export', caseFile('push-pipeline-five-jobs-three-stages'), '--endpoint', server.url]
  const { exitCode, stdout } = await finished(startPenstock(args, { PENSTOCK_EXPORT_TOKEN: 'of-the-environment' }))
  expect(exitCode).toBe(0)
  expect(stdout).toContain('everything accepted')
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill('Bearer of-the-environment'),
  )
})

test('ends without a message when its reader ends', async () => {
  const child = startPenstock(['convert', '-'])
  child.stdin.on('error', () => {})
  child.stdin.end(ndjson(Array.from({ length: 2_000 }, (_, at) => hookLine(at + 1))))
  child.stdout.once('data', () => child.stdout.destroy())
  const { exitCode, stderr } = await finished(child)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

test('SIGINT ends it with 130 and no stack trace', async () => {
  const child = startPenstock(['convert', '-'])
  child.stdin.write(`${hookLine(1)}\n`)
  child.stdout.once('data', () => child.kill('SIGINT'))
  const { exitCode, stderr } = await finished(child)
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: '' })
})

test('a document of 100 MB is refused', async () => {
  await using directory = await temporaryDirectory()
  const path = await directory.file('large.json', '{\n')
  const file = await open(path, 'r+')
  await file.truncate(100_000_000)
  await file.close()
  const { exitCode, stdout, stderr } = await penstockProcess(['convert', path])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toContain('large.json: is longer than 67,108,864 bytes')
})
