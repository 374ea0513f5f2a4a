import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { JobLogReader } from '@penstock/forges'
import { expect, test } from 'vitest'
import { fixtures } from '../fixtures.ts'

const directory = join(fixtures, 'job-logs')
const cases = readdirSync(directory).flatMap((file) => (file.endsWith('.log') ? [file.slice(0, -'.log'.length)] : []))

/** The time of `section_start` in the logs at which their jobs start. */
const startNs = 1_770_091_510_000_000_000n
const seconds = (timeNs: bigint | undefined) => (timeNs === undefined ? '?' : `${(timeNs - startNs) / 1_000_000_000n}`)

/** Returns the sections, one a line below the section that contains it, and the failing lines. */
function readable(name: string): string {
  const reader = new JobLogReader()
  reader.add(readFileSync(join(directory, `${name}.log`)))
  const { sections, failure } = reader.end()
  const depths: number[] = []
  const lines = sections.map(({ name: section, startedAtNs, finishedAtNs, section: { title, parent } = {} }, at) => {
    depths[at] = parent === undefined ? 0 : depths[parent - 1]! + 1
    return `${'  '.repeat(depths[at]!)}${section} ${seconds(startedAtNs)}-${seconds(finishedAtNs)}${title ? `: ${title}` : ''}`
  })
  return [...lines, '', `failure ${failure?.fingerprint}`, failure?.lines, ''].join('\n')
}

test.each(cases)('%s', async (name) => {
  await expect(readable(name)).toMatchFileSnapshot(join(directory, `${name}.expected.txt`))
})
