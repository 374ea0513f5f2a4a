import { readInput } from '@penstock/forges'
import { expect, test } from 'vitest'
import { withNamedParts } from './named-parts.ts'

const pipeline = { id: 7, number: 2, status: 'success', event: 'push', commit: 'f', parent: 0, workflows: [] }
const input = readInput(pipeline, { receivedAtNs: undefined })
if (input.kind !== 'pipeline') throw new Error('no run')
const { record } = input

const instanceId = 'ci.example.com'
const project = 'kiln-works/shelf'

test('the options name the project', () => {
  expect(withNamedParts(record, { instanceId, project }).project).toMatchObject({ path: project, name: 'shelf' })
})

test.each([
  [{}, 'its server and repository: set instanceId and project of the source, or --instance-id and --project'],
  [{ project }, 'its server: set instanceId of the source, or --instance-id'],
  [{ instanceId }, 'its repository: set project of the source, or --project'],
])('without what the payload lacks, it is refused: %j', (given, message) => {
  const options = { instanceId: undefined, project: undefined, ...given }
  expect(() => withNamedParts(record, options)).toThrow(`a run of woodpecker does not name ${message}`)
})

test('a project that the payload names is kept', () => {
  const named = { ...record, unnamed: undefined, project: { ...record.project, path: 'kiln-works/clay' } }
  expect(withNamedParts(named, { instanceId: undefined, project })).toBe(named)
})
