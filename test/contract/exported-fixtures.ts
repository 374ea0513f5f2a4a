import { type OtlpRequest, type Signal, signalNames } from '@penstock/otlp'
import { expect } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { caseFile, caseNames } from '../fixtures.ts'
import { decoded } from './agent.ts'

export type Requests = { readonly [S in Signal]: OtlpRequest<S>[] }

/** The files of all fixtures, as arguments of a command. */
export const fixtureFiles: readonly string[] = caseNames.map(caseFile)

/** The time for the one fixture that has none. */
export const receivedAt: readonly string[] = ['--received-at', '2026-07-01T12:00:00.123456789Z']

/** Returns what `penstock export` sends of the files, in the order of the pipelines. */
export async function convertedFixtures(
  options: readonly string[] = [],
  files: readonly string[] = fixtureFiles,
): Promise<Requests> {
  const run = await penstock(['convert', ...files, ...receivedAt, ...options])
  expect(run.exitCode).toBe(0)
  const lines = run.stdout.toString().trimEnd().split('\n')
  const of = <S extends Signal>(signal: S) =>
    decoded(
      signal,
      lines.filter((_, i) => signalNames[i % 3] === signal),
    )
  return { traces: of('traces'), metrics: of('metrics'), logs: of('logs') }
}

/** Runs `penstock export` with the files. */
export function exportFixtures(
  endpoint: string,
  options: readonly string[] = [],
  files: readonly string[] = fixtureFiles,
): Promise<Outcome> {
  return penstock(['export', ...files, '--endpoint', endpoint, ...receivedAt, ...options])
}
