import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { firstWithin, killWhenWeEnd } from '../collector/child-program.ts'
import { describeWithPrograms, type NeededProgram } from '../collector/program-suite.ts'

export type BackendName = 'jaeger' | 'prometheus' | 'victoria-logs'

/** A running backend with its data in a temporary directory, which is removed when it stops. */
export interface Backend {
  /** Returns what the backend has printed. */
  logs(): string
  stop(): Promise<void>
}

export interface BackendStart {
  /** Returns the arguments of the program, which stores its data in `directory`. */
  readonly args: (directory: string) => readonly string[]
  /** The whole environment of the program. */
  readonly env?: (directory: string) => Readonly<Record<string, string>>
  /** An URL that answers 200 as soon as the backend accepts and answers requests. */
  readonly readyUrl: string
}

const startDeadlineMs = 60_000
const stopDeadlineMs = 60_000

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-backends.mjs')

function pathOf(name: BackendName): string {
  const printed = execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' })
  return (JSON.parse(printed) as Record<BackendName, string>)[name]
}

/** Returns a backend as a program that a suite needs. */
export const neededBackend = (name: BackendName): NeededProgram => ({
  name,
  script: 'backends',
  isBuilt: existsSync(pathOf(name)),
})

/** Declares a suite that needs one backend: see `describeWithPrograms`. */
export function describeWithBackend(name: BackendName, title: string, suite: () => void): void {
  describeWithPrograms(title, [neededBackend(name)], suite)
}

/** Starts a backend, and resolves once it is ready. */
export async function startBackend(name: BackendName, { args, env, readyUrl }: BackendStart): Promise<Backend> {
  const directory = mkdtempSync(join(tmpdir(), `penstock-${name}-`))
  const child = spawn(pathOf(name), args(directory), {
    cwd: directory,
    env: { HOME: directory, ...env?.(directory) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killWhenWeEnd(child)
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(`exit ${code ?? signal}`))
  })
  const remove = () => rmSync(directory, { recursive: true, force: true })

  const abandoned = new AbortController()
  const outcome = await firstWithin(startDeadlineMs, [answers(readyUrl, abandoned.signal), ended])
  abandoned.abort()
  if (outcome !== 'ready') {
    child.kill('SIGKILL')
    await ended
    remove()
    throw new Error(`${name} did not start (${outcome}):\n${log}`)
  }
  return {
    logs: () => log,
    async stop() {
      child.kill('SIGTERM')
      const end = await firstWithin(stopDeadlineMs, [ended])
      if (end === 'deadline') {
        child.kill('SIGKILL')
        await ended
      }
      remove()
      if (end !== 'exit 0') throw new Error(`${name} did not stop properly (${end}):\n${log}`)
    },
  }
}

/** Resolves once an URL answers 200. */
async function answers(url: string, signal: AbortSignal): Promise<string> {
  while (!signal.aborted) {
    const isReady = await fetch(url, { signal }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
    if (isReady) return 'ready'
    await sleep(50)
  }
  return 'abandoned'
}
