import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { systemClock } from '@penstock/runtime'
import { runProgram } from '../../packages/cli/src/program.ts'

export interface Run {
  readonly exitCode: number | null
  readonly stdout: Buffer
  /** Progress, remarks and complaints. */
  readonly stderr: string
}

export interface RunOptions {
  /** In pieces, if need be. */
  readonly stdin?: Iterable<string> | AsyncIterable<string>
  readonly env?: Readonly<Record<string, string>>
  /** Hears of every piece written to standard error. */
  readonly onStderr?: (text: string) => void
}

/** The command line, in this process. */
export async function penstock(
  args: readonly string[],
  { stdin = [], env = {}, onStderr = () => {} }: RunOptions = {},
): Promise<Run> {
  const stdout = new Collected()
  const stderr = new Collected(onStderr)
  const exitCode = await runProgram(args, {
    stdin: Readable.from(bytesOf(stdin)),
    stdout,
    stderr,
    env,
    clock: systemClock,
    random: Math.random,
    signal: new AbortController().signal,
    samplesDirectory: '',
  })
  return { exitCode, stdout: stdout.bytes, stderr: stderr.bytes.toString() }
}

async function* bytesOf(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece)
}

class Collected extends Writable {
  readonly #pieces: Buffer[] = []

  constructor(onWrite: (text: string) => void = () => {}) {
    super({
      write: (piece: Buffer, _, done) => {
        this.#pieces.push(piece)
        onWrite(piece.toString())
        done()
      },
    })
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }
}

const bin = join(import.meta.dirname, '../../packages/cli/bin/penstock.mjs')

/** The same as a process of its own, from what `npm run setup` has built. */
export async function penstockProcess(args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [bin, ...args], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { exitCode, stdout: Buffer.from(stdout), stderr }
}
