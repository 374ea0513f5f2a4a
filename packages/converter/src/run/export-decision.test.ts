import { type PipelineRecord, readInput } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../base/options.ts'
import { exportDecision } from './export-decision.ts'

const finished_at = '2026-02-11 09:25:11 UTC'

function pipeline(status: string, fields: { finished_at?: string } = {}): PipelineRecord {
  const input = readInput({ object_attributes: { id: 31, status, ...fields } }, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return input.record
}

const skip = (reason: string) => ({ kind: 'skip', reason })
const EXPORT = { kind: 'export' }
const everything = resolveOptions({ exportBlocked: true, exportUnknown: true })

describe('by default', () => {
  test.each([
    ['success', EXPORT],
    ['failed', EXPORT],
    ['canceled', EXPORT],
    ['skipped', EXPORT],
    ['failure', EXPORT],
    ['CANCELLED', EXPORT],
    ['created', skip('not final (created)')],
    ['pending', skip('not final (pending)')],
    ['preparing', skip('not final (preparing)')],
    ['waiting_for_resource', skip('not final (waiting_for_resource)')],
    ['waiting_for_callback', skip('not final (waiting_for_callback)')],
    ['running', skip('not final (running)')],
    ['canceling', skip('not final (canceling)')],
    ['manual', skip('waits (manual)')],
    ['scheduled', skip('waits (scheduled)')],
    ['foo', skip('unknown status')],
  ])('%s', (status, decision) => {
    expect(exportDecision(pipeline(status, { finished_at }), resolveOptions())).toEqual(decision)
  })

  test.each(['success', 'failed', 'canceled', 'skipped'])('exports the status %s without an end', (status) => {
    expect(exportDecision(pipeline(status), resolveOptions())).toEqual(EXPORT)
  })
})

describe('with options', () => {
  test.each(['manual', 'scheduled'])('exportBlocked exports the status %s', (status) => {
    expect(exportDecision(pipeline(status), everything)).toEqual(EXPORT)
  })

  test('exportUnknown exports an unknown status only if the pipeline has an end', () => {
    expect(exportDecision(pipeline('foo', { finished_at }), everything)).toEqual(EXPORT)
    expect(exportDecision(pipeline('foo'), everything)).toEqual(skip('unknown status, not finished'))
  })

  test.each(['created', 'pending', 'running', 'canceling'])('skips the status %s', (status) => {
    expect(exportDecision(pipeline(status, { finished_at }), everything)).toEqual(skip(`not final (${status})`))
  })
})

describe('after an earlier export', () => {
  const later = (status: string) => ({ ...pipeline(status), previousExport: { jobIds: new Set([380n]) } })

  test('skips every status by default', () => {
    for (const status of ['success', 'failed', 'running', 'manual', 'foo']) {
      expect(exportDecision(later(status), everything)).toEqual(skip('already exported'))
    }
  })

  test.each(['replace', 'link'] as const)(
    'reexport: %s exports a later completion, and skips the statuses before it',
    (reexport) => {
      const options = resolveOptions({ reexport })
      expect(exportDecision(later('success'), options)).toEqual(EXPORT)
      expect(exportDecision(later('running'), options)).toEqual(skip('not final (running)'))
    },
  )
})
