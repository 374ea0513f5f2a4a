import { beforeAll, expect, test } from 'vitest'
import { describeWithCollector } from '../../collector/collector-suite.ts'
import { type Comparison, compareWithGithubReceiver, jobPairs, runPairs } from './comparison.harness.ts'
import { measuredFaults } from './faults.harness.ts'
import { comparisonPage } from './page.ts'

describeWithCollector('Penstock compared with the github receiver, on the hooks of all fixtures of GitHub', () => {
  let comparison: Comparison

  beforeAll(async () => {
    comparison = await compareWithGithubReceiver()
  })

  test('compares all fixtures', () => {
    expect(runPairs(comparison.runs).length).toBeGreaterThan(24)
    expect(jobPairs(comparison.runs).length).toBeGreaterThan(36)
    expect(comparison.wrongSignature).toBe(400)
  })

  test('exports every job that the receiver exports', () => {
    for (const { name, theirs, ours } of comparison.runs) {
      expect([name, [...theirs.jobs.keys()].filter((id) => !ours.jobs.has(id))]).toEqual([name, []])
    }
  })

  test('has none of the faults that the receiver has, and the receiver has each of them', () => {
    const counted = measuredFaults(comparison).filter(({ theirs }) => / of \d+$/.test(theirs))
    for (const { what, theirs, ours } of counted) {
      expect([what, Number.parseInt(ours, 10)]).toEqual([what, 0])
      expect(Number.parseInt(theirs, 10), what).toBeGreaterThan(0)
    }
  })

  test('docs/evidence/compared-with-githubreceiver.md has the measured figures', async () => {
    await expect(comparisonPage(comparison)).toMatchFileSnapshot(
      '../../../docs/evidence/compared-with-githubreceiver.md',
    )
  })
})
