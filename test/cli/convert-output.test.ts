import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { decodeRequest, encodeRequest, type Signal, signalNames } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import type { OutputStream } from '../../packages/cli/src/process/environment.ts'
import { penstock, Sink } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { spansOf } from './json-spans.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const push = caseFile('push-pipeline-five-jobs-three-stages')

describe('output', () => {
  test('is one request per line: traces, metrics, logs', async () => {
    const { exitCode, stdout, stderr } = await penstock(['convert', push])
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual([
      'resourceSpans',
      'resourceMetrics',
      'resourceLogs',
    ])
    expect(spansOf(stdout)[0]?.traceId).toBe('f09bd275a66f6824d2b176f2a52ef4b6')
  })

  test('has only the selected signals, in the order traces, metrics, logs', async () => {
    const { stdout } = await penstock(['convert', push, '--signals', 'Logs, traces,logs'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(['resourceSpans', 'resourceLogs'])
  })

  test('is protobuf of one signal, with concatenated requests', async () => {
    const both = [push, caseFile('tag-pipeline-release')]
    const { exitCode, stdoutBytes } = await penstock([
      'convert',
      ...both,
      '--signals',
      'traces',
      '--encoding',
      'protobuf',
    ])
    expect(exitCode).toBe(0)
    expect(decodeRequest('traces', stdoutBytes, 'protobuf').resources).toHaveLength(2)
  })

  test('refuses protobuf of several signals on standard output', async () => {
    const { exitCode, stdout, stderr } = await penstock(['convert', push, '--encoding', 'protobuf'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^penstock: protobuf on standard output can contain one signal only.*\n$/)
  })

  test.each([
    { encoding: 'json' as const, extension: 'json' },
    { encoding: 'protobuf' as const, extension: 'pb' },
  ])('$encoding files in a directory say the same as lines', async ({ encoding, extension }) => {
    await using directory = await temporaryDirectory()
    const output = join(directory.path, 'made/for/it')
    const { exitCode, stdout } = await penstock(['convert', push, '--encoding', encoding, '--output', output])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    const lines = (await penstock(['convert', push])).stdout.split('\n')
    for (const [at, signal] of signalNames.entries()) {
      const file = await readFile(join(output, `31.${signal}.${extension}`))
      expect(asJson(signal, file, encoding)).toBe(lines[at])
    }
  })

  test('writes a separate file for each pipeline with the same id', async () => {
    await using directory = await temporaryDirectory()
    await penstock([
      'convert',
      caseFile('same-ids-on-two-instances'),
      '--signals',
      'traces',
      '--output',
      directory.path,
    ])
    expect((await readdir(directory.path)).sort()).toEqual(['2024.2.traces.json', '2024.traces.json'])
  })

  test('refuses a directory that cannot be written', async () => {
    const { exitCode, stderr } = await penstock(['convert', push, '--output', push])
    expect(exitCode).toBe(2)
    expect(stderr).toBe(`penstock: cannot write to ${push}: file already exists\n`)
  })

  test('exits with 1 if the output cannot be written', async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC', errno: -28 })),
    })
    full.on('error', () => {})
    expect(await penstock(['convert', push], { stdout: full as OutputStream })).toMatchObject({
      exitCode: 1,
      stderr: 'penstock: cannot write to standard output: no space left on device\n',
    })
  })

  test('exits with 1 if a file cannot be written', async () => {
    await using directory = await temporaryDirectory()
    const file = join(directory.path, '31.traces.json')
    await mkdir(file)
    expect(await penstock(['convert', push, '--output', directory.path])).toMatchObject({
      exitCode: 1,
      stderr: `penstock: cannot write ${file}: illegal operation on a directory\n`,
    })
  })

  test('ends without a message if the reader closes the output', async () => {
    const closing = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    })
    closing.on('error', () => {})
    const stderr = new Sink()
    const { exitCode } = await penstock(['convert', push], { stdout: closing as OutputStream, stderr })
    expect(exitCode).toBe(0)
    expect(stderr.text).toBe('')
  })
})

function asJson(signal: Signal, file: Buffer, encoding: 'json' | 'protobuf'): string {
  return Buffer.from(encodeRequest(signal, decodeRequest(signal, file, encoding), 'json')).toString()
}
