import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accumulate, convert, newAccumulator, resolveOptions } from '@penstock/converter'
import { parseLossless, readInput } from '@penstock/forges'
import { expect, onTestFinished, test } from 'vitest'
import { OutputError, UsageError } from '../process/environment.ts'
import { loadState, saveState } from './state-file.ts'

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'penstock-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Attribute values that look like parts of the file format. */
const hook = parseLossless(`{
  "object_kind": "pipeline",
  "object_attributes": {
    "id": 9223372036854775807, "ref": "{\\"bigint\\":\\"1\\"}", "status": "failed", "duration": 1e-7, "queued_duration": 3,
    "created_at": "2026-02-11 09:20:14 UTC", "finished_at": "2026-02-11 09:20:17 UTC"
  },
  "project": { "name": "12n", "web_url": "https://ci.example.com/a/b" },
  "builds": [{ "id": 1, "name": "unit", "stage": "test", "status": "failed", "duration": 0.1 }]
}`)

function totals() {
  const input = readInput(hook, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  const { metrics } = convert(input.record, resolveOptions({ metricsMode: 'cumulative' }))
  return accumulate(newAccumulator('cumulative', 5n), metrics, 2n ** 63n - 1n).state
}

test('loads what was saved', async () => {
  const path = join(await directory(), 'totals.json')
  const state = totals()
  expect(state.streams.size).toBeGreaterThan(5)
  await saveState(path, state)
  expect(await loadState(path, 9n)).toEqual(state)
})

test('leaves only the file', async () => {
  const path = await directory()
  await saveState(join(path, 'totals.json'), totals())
  await saveState(join(path, 'totals.json'), totals())
  expect(await readdir(path)).toEqual(['totals.json'])
})

test('without a file, totals start now', async () => {
  expect(await loadState(join(await directory(), 'totals.json'), 9n)).toEqual(newAccumulator('cumulative', 9n))
})

test('refuses a directory', async () => {
  const path = join(await directory(), 'totals.json')
  await mkdir(path)
  await expect(loadState(path, 9n)).rejects.toThrow(
    new UsageError(`cannot read ${path}: illegal operation on a directory`),
  )
  await expect(saveState(path, totals())).rejects.toThrow(OutputError)
})
