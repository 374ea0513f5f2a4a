import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'vitest'
import { finished, type Outcome } from './command-line.ts'
import type { RunningGateway } from './gateway/running-gateway.ts'

/** Returns the code blocks of one language in a page, or in the part of it that begins with `from` and ends before `to`. */
export function codeBlocks(page: string, language: string, from = '', to?: string): string[] {
  const text = readPage(page)
  const start = text.indexOf(from)
  const end = to === undefined ? text.length : text.indexOf(to, start)
  if (start === -1 || end === -1) throw new Error(`${page} has no part from ${from} to ${to}`)
  return fencedBlocks(text.slice(start, end), language)
}

const readPage = (page: string): string => readFileSync(join(import.meta.dirname, '..', page), 'utf8')

function fencedBlocks(text: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...text.matchAll(fenced)].map(([, block = '']) => block)
}

/** Returns the `sh` code blocks of a page, or of the part of it that begins with `from` and ends before `to`. */
export function shellBlocks(page: string, from = '', to?: string): string[] {
  return codeBlocks(page, 'sh', from, to)
}

/** Returns the `sh` code blocks of the section with this heading of the second level. */
export function sectionBlocks(page: string, heading: string): string[] {
  const text = readPage(page)
  const start = text.indexOf(`\n## ${heading}\n`)
  if (start === -1) throw new Error(`${page} has no section ${heading}`)
  const next = text.indexOf('\n## ', start + 1)
  return fencedBlocks(text.slice(start, next === -1 ? text.length : next), 'sh')
}

/** Returns the commands `curl …` of some blocks, and `obs …`, which is curl with an API key, each with its continuation lines. */
export function curlCommands(blocks: readonly string[]): string[] {
  return blocks.flatMap((block) => block.match(/^(?:curl|obs) (?:.*\\\n)*.*/gm) ?? [])
}

/** Returns the one-line function with this name that the blocks define. */
export function shellFunction(blocks: readonly string[], name: string): string {
  const found = new RegExp(`^${name}\\(\\).*\n`, 'm').exec(blocks.join(''))
  if (found === null) throw new Error(`no block defines ${name}`)
  return found[0]
}

/**
 * Runs the commands of a page with bash against a gateway with other addresses than on the page.
 *
 * @param variables the variables of the shell; a script that uses others fails
 */
export function runAgainst(
  { managementUrl, otlpUrl }: Pick<RunningGateway, 'managementUrl' | 'otlpUrl'>,
  script: string,
  variables: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const here = script.replaceAll('http://127.0.0.1:8081', managementUrl).replaceAll('http://127.0.0.1:4318', otlpUrl)
  return runShell(here, variables)
}

/** Runs a script with bash. The first failing command or unset variable ends it. */
export function runShell(
  script: string,
  variables: Readonly<Record<string, string>>,
  directory?: string,
): Promise<Outcome> {
  const env = { PATH: process.env.PATH ?? '', ...variables }
  const options = { env, ...(directory !== undefined && { cwd: directory }) }
  const shell: ChildProcessWithoutNullStreams = spawn('bash', ['-euo', 'pipefail', '-c', script], options)
  shell.stdin.end()
  return finished(shell)
}

/** Declares a test that needs bash and curl. In CI it always runs; elsewhere it is skipped without them, and the reason is printed. */
export function testWithCurl(name: string, run: () => Promise<void>): void {
  const isThere = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0)
  if (!isThere && !process.env.CI) console.warn(`skipped: "${name}" needs bash and curl`)
  test.runIf(isThere || process.env.CI)(name, run)
}
