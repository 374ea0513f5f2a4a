import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { caseFile } from '../fixtures.ts'
import { faultsIn } from './compare.harness.ts'
import { playEndToEnd } from './end-to-end.harness.ts'
import { giteaProgram } from './gitea-program.ts'
import { recordedHooks } from './recording.ts'

const name = 'the hooks of real runs on Gitea'
const reason = '"npm run gitea" builds Gitea (takes Go and minutes); what it sent is replayed by gitea-replay.test.ts'

if (giteaProgram() !== undefined) {
  test(name, { timeout: 600_000 }, async () => {
    const played = await playEndToEnd(1_100)
    expect(faultsIn(played)).toEqual([])
    expect(played.kills).toBe(2)
  })
} else if (process.env.CI) {
  test(`${name} are recorded: ${reason}`, () => {
    expect(recordedHooks.filter((recorded) => !existsSync(caseFile(recorded.name)))).toEqual([])
  })
} else {
  console.warn(`skipped: "${name}": ${reason}`)
  describe.skip(name, () => {
    test(reason, () => {})
  })
}
