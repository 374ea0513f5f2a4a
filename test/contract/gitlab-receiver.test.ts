import { beforeAll, expect, test } from 'vitest'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { type Case, compareWithGitlabReceiver, pairsOf } from './gitlab-receiver-comparison.harness.ts'
import { comparisonPage } from './gitlab-receiver-page.harness.ts'

describeWithCollector('Penstock compared with the gitlab receiver, on every pipeline hook of the fixtures', () => {
  let cases: Case[]

  beforeAll(async () => {
    cases = await compareWithGitlabReceiver()
  })

  test('compares all fixtures', () => {
    expect(cases.length).toBeGreaterThan(180)
    expect(pairsOf(cases).length).toBeGreaterThan(120)
  })

  test('exports every pipeline that the receiver exports', () => {
    const onlyTheirs = cases.filter(({ theirs, ours }) => theirs.kind === 'exported' && ours.kind !== 'exported')
    expect(onlyTheirs.map(({ name }) => name)).toEqual([])
  })

  test('exports every job that the receiver exports', () => {
    for (const { name, theirs, ours } of pairsOf(cases)) {
      const missing = [...theirs.jobs.keys()].filter((id) => !ours.jobs.has(id))
      expect([name, missing]).toEqual([name, []])
    }
  })

  test('docs/evidence/compared-with-gitlabreceiver.md has the measured figures', async () => {
    await expect(comparisonPage(cases)).toMatchFileSnapshot('../../docs/evidence/compared-with-gitlabreceiver.md')
  })
})
