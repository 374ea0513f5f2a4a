import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { signalNames, signals } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile, caseNames, fixtures, flagsOf, unnamedCases, unnamedFile, variants } from '../fixtures.ts'
import { readableJson } from './readable-json.ts'

/**
 * Compares the output of `penstock convert` for every fixture with its golden files: three requests per pipeline, and the
 * messages. `npm run golden` rewrites the files.
 */

/** The clock for fixtures without any time. */
const clock = new ManualClock(Date.UTC(2026, 8, 1))

async function expectGolden(file: string, goldenName: string, flags: readonly string[]): Promise<void> {
  const run = await penstock(['convert', file, ...flags], { clock })
  expect(run.exitCode).toBe(0)
  const requests = run.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as object)
  const golden = (suffix: string) => join(fixtures, 'golden', `${goldenName}.${suffix}`)
  const messages = run.stderr.replaceAll(`${dirname(file)}/`, '')
  if (messages !== '') await expect(messages).toMatchFileSnapshot(golden('messages.txt'))
  for (const signal of signalNames) {
    const ofSignal = requests.filter((request) => signals[signal].json.resources in request)
    if (ofSignal.length === 0) continue
    await expect(`${ofSignal.map((request) => readableJson(request)).join('\n')}\n`).toMatchFileSnapshot(
      golden(`${signal}.json`),
    )
  }
}

describe('with the default options', () => {
  test.each(caseNames)('%s', (name) => expectGolden(caseFile(name), name, []))
})

describe('with other options', () => {
  test.each(variants)('$case: $variant', ({ case: name, variant, options }) =>
    expectGolden(caseFile(name), `${name}.${variant}`, flagsOf(options)),
  )
})

describe('with the names that the payload lacks', () => {
  const names = ['--instance-id', 'ci.example.com', '--project', 'kiln-works/shelf']
  test.each(unnamedCases)('%s', (name) => expectGolden(unnamedFile(name), name, names))
  test.each(unnamedCases)('%s is refused without them', async (name) => {
    const run = await penstock(['convert', unnamedFile(name)], { clock })
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--instance-id') })
  })
})

test('every golden file belongs to a case', () => {
  const names = new Set([...caseNames, ...unnamedCases, ...variants.map((row) => `${row.case}.${row.variant}`)])
  const strays = readdirSync(join(fixtures, 'golden')).filter(
    (file) => !names.has(file.replace(/\.(traces\.json|metrics\.json|logs\.json|messages\.txt)$/, '')),
  )
  expect(strays).toEqual([])
})
