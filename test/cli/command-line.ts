import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { systemClock } from '@penstock/runtime'
import type { Environment } from '../../packages/cli/src/environment.ts'
import { runProgram } from '../../packages/cli/src/program.ts'

export const fixtures = join(import.meta.dirname, '../../fixtures')
export const pipelines = join(fixtures, 'pipelines')

/** Keeps what is written to it. */
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
  readonly exitCode: number
  readonly stdout: string
  readonly stdoutBytes: Buffer
  readonly stderr: string
}

type World = Partial<Omit<Environment, 'stdin'>> & { readonly stdin?: Readable | string }

/** One run of `penstock` within this process; only what matters to the test need be given. */
export async function penstock(args: readonly string[], world: World = {}): Promise<Outcome> {
  const stdout = world.stdout ?? new Sink()
  const stderr = world.stderr ?? new Sink()
  const exitCode = await runProgram(args, {
    env: {},
    clock: systemClock,
    random: () => 0,
    signal: new AbortController().signal,
    samplesDirectory: pipelines,
    ...world,
    stdin:
      world.stdin instanceof Readable
        ? world.stdin
        : Readable.from(Buffer.from(world.stdin ?? ''), { objectMode: false }),
    stdout,
    stderr,
  })
  const bytes = stdout instanceof Sink ? stdout.bytes : Buffer.alloc(0)
  return {
    exitCode,
    stdout: bytes.toString(),
    stdoutBytes: bytes,
    stderr: stderr instanceof Sink ? stderr.text : '',
  }
}

/** A file of `fixtures/pipelines`. */
export const pipeline = (name: string): string => join(pipelines, `${name}.json`)

/** A directory that goes away with the test. */
export async function temporaryDirectory(): Promise<
  { path: string; file: (name: string, content: string) => Promise<string> } & AsyncDisposable
> {
  const path = await mkdtemp(join(tmpdir(), 'penstock-'))
  return {
    path,
    async file(name, content) {
      const file = join(path, name)
      await writeFile(file, content)
      return file
    },
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** A finished pipeline of three seconds with one job, as a line of NDJSON. */
export function hookLine(id: number, { status = 'success', ...more }: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: 'main',
      status,
      created_at: '2026-02-11 09:20:14 UTC',
      finished_at: status === 'running' ? null : '2026-02-11 09:20:17 UTC',
      duration: 3,
      ...more,
    },
    project: { id: 42, name: 'tide-tables', web_url: 'https://ci.example.com/harbour/tide-tables' },
    builds: [
      {
        id: id * 10,
        stage: 'build',
        name: 'compile',
        status: 'success',
        created_at: '2026-02-11 09:20:14 UTC',
        started_at: '2026-02-11 09:20:15 UTC',
        finished_at: '2026-02-11 09:20:17 UTC',
        duration: 2,
      },
    ],
  })
}

export const ndjson = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
