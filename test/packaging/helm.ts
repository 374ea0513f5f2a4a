import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { parseAllDocuments } from 'yaml'
import type { NeededProgram } from '../collector/program-suite.ts'

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-helm.mjs')
export const chart = join(import.meta.dirname, '../../packaging/helm/penstock')

/** The paths of the programs that the tests of the chart start. */
export const programs = JSON.parse(
  execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' }),
) as Readonly<Record<'helm' | 'apiserver' | 'etcd', string>>

export const neededHelm: readonly NeededProgram[] = [
  { name: 'Helm', script: 'helm', isBuilt: existsSync(programs.helm) },
  { name: 'the Kubernetes API server', script: 'helm', isBuilt: existsSync(programs.apiserver) },
  { name: 'etcd', script: 'helm', isBuilt: existsSync(programs.etcd) },
]

/** A Kubernetes object, as the chart or the API server describes it. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  // biome-ignore lint/suspicious/noExplicitAny: the API server checks the shape
  readonly spec: any
}

/** Runs helm without the configuration of the user. */
export function runHelm(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(programs.helm, args, { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: '/nonexistent' } })
}

/** Returns the objects of the chart, rendered with values that are given as arguments of helm. @throws {Error} if helm fails */
export function render(...values: readonly string[]): Manifest[] {
  const { status, stdout, stderr } = runHelm('template', 'test', chart, '--namespace', 'telemetry', ...values)
  if (status !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null)
}
