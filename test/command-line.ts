import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { Readable, Writable } from 'node:stream'
import { systemClock } from '@penstock/runtime'
import { onTestFinished } from 'vitest'
import type { Environment } from '../packages/cli/src/process/environment.ts'
import { runProgram } from '../packages/cli/src/program.ts'
import { pipelines } from './fixtures.ts'

/** A stream that stores the written text. */
export class Sink extends Writable {
  readonly isTTY: boolean
  readonly columns: number | undefined
  readonly #parts: Buffer[] = []
  #onWrite: (text: string) => void = () => {}

  constructor({ isTTY = false, columns }: { isTTY?: boolean; columns?: number } = {}) {
    super()
    this.isTTY = isTTY
    this.columns = columns
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  get text(): string {
    return this.bytes.toString()
  }

  onWrite(listener: (text: string) => void): this {
    this.#onWrite = listener
    return this
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#parts.push(chunk)
    this.#onWrite(chunk.toString())
    done()
  }
}

export interface Outcome {
  /** The exit code; `null` for a process that was ended by a signal. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stdoutBytes: Buffer
  readonly stderr: string
}

type World = Partial<Omit<Environment, 'stdin'>> & {
  /** Standard input, as a text or in pieces. */
  readonly stdin?: Readable | string | Iterable<string> | AsyncIterable<string>
}

/** Runs `penstock` within this process. Missing parts of `world` have defaults. */
export async function penstock(args: readonly string[], world: World = {}): Promise<Outcome> {
  const { stdin = '', stdout = new Sink(), stderr = new Sink() } = world
  const exitCode = await runProgram(args, {
    env: {},
    clock: systemClock,
    random: () => 0,
    signal: new AbortController().signal,
    samplesDirectory: pipelines,
    installation: { kind: 'checkout', nodeVersion: process.versions.node },
    ...world,
    stdin: stdin instanceof Readable ? stdin : Readable.from(bytesOf(stdin), { objectMode: false }),
    stdout,
    stderr,
  })
  return outcome(exitCode, stdout, stderr)
}

async function* bytesOf(text: string | Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of typeof text === 'string' ? [text] : text) yield Buffer.from(piece)
}

function outcome(exitCode: number | null, stdout: Writable, stderr: Writable): Outcome {
  const stdoutBytes = stdout instanceof Sink ? stdout.bytes : Buffer.alloc(0)
  return { exitCode, stdout: stdoutBytes.toString(), stdoutBytes, stderr: stderr instanceof Sink ? stderr.text : '' }
}

const bin = join(import.meta.dirname, '../packages/cli/bin/penstock.mjs')

/** Starts the built command in a separate process, which is ended with the test. */
export function startPenstock(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH ?? '', ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Waits for the end of a process, and returns its output. */
export async function finished(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const stdout = child.stdout.pipe(new Sink())
  const stderr = child.stderr.pipe(new Sink())
  const [exitCode] = (await once(child, 'close')) as [number | null]
  return outcome(exitCode, stdout, stderr)
}

export const penstockProcess = (args: readonly string[]): Promise<Outcome> => finished(startPenstock(args))
