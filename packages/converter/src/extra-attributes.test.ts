import { readInput } from '@penstock/forges'
import { expect, test } from 'vitest'
import { type ConvertOptionsInput, convert, resolveOptions } from './index.ts'

const body = {
  pipeline: {
    id: 31,
    status: 'failed',
    created_at: '2026-01-05T10:00:00Z',
    coverage: '98.25',
    yaml_errors: 'jobs:unit config should implement a script: or a trigger: keyword',
    ref_status_name: 'still_failing',
  },
  jobs: [
    { id: 380, status: 'success', coverage: 17.5, tag_list: ['linux', 'docker'], runner: { id: 6, tags: ['shared'] } },
    { id: 381, status: 'success', coverage: null, tag_list: [] },
  ],
}
const keys = [
  'svc.cicd.pipeline.run.coverage',
  'svc.cicd.pipeline.run.error.message',
  'svc.vcs.ref.head.status',
  'svc.cicd.pipeline.task.run.coverage',
  'svc.cicd.pipeline.task.required_tags',
]

function attributesOf(of: object, options: ConvertOptionsInput) {
  const input = readInput(of, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  const { traces } = convert(input.record, resolveOptions(options))
  const spans = traces.resources[0]!.scopes[0]!.items
  return spans.map(({ attributes }) =>
    Object.fromEntries(attributes.map(({ key, type, value }) => [key, [type, value]])),
  )
}

test('extraAttributes adds coverage, configuration errors, status of the ref and required tags', () => {
  const [run, unit, lint] = attributesOf(body, { extraAttributes: true })
  expect(run).toMatchObject({
    'svc.cicd.pipeline.run.coverage': ['double', 98.25],
    'svc.cicd.pipeline.run.error.message': ['string', body.pipeline.yaml_errors],
    'svc.vcs.ref.head.status': ['string', 'still_failing'],
    'error.type': ['string', 'config_error'],
  })
  expect(unit).toMatchObject({
    'svc.cicd.pipeline.task.run.coverage': ['double', 17.5],
    'svc.cicd.pipeline.task.required_tags': [
      'array',
      [
        { type: 'string', value: 'linux' },
        { type: 'string', value: 'docker' },
      ],
    ],
  })
  for (const key of keys) expect(lint).not.toHaveProperty([key])
})

test('the attributes are left out by default', () => {
  for (const attributes of attributesOf(body, {})) {
    for (const key of keys) expect(attributes).not.toHaveProperty([key])
  }
})

test('the keys have the vendor namespace', () => {
  const [run] = attributesOf(body, { extraAttributes: true, vendorNamespace: 'gitlab' })
  expect(run).toHaveProperty(['gitlab.cicd.pipeline.run.coverage'])
})

test('the error of an unreadable configuration is also read from a hook', () => {
  const { pipeline } = body
  const [run] = attributesOf({ object_attributes: pipeline }, { extraAttributes: true })
  expect(run).toMatchObject({
    'svc.cicd.pipeline.run.error.message': ['string', pipeline.yaml_errors],
    'error.type': ['string', 'config_error'],
  })
})

test.each(['ninety', -1, [98], '1e3', ''])('coverage %j is absent', (coverage) => {
  const [run] = attributesOf({ ...body, pipeline: { ...body.pipeline, coverage } }, { extraAttributes: true })
  expect(run).not.toHaveProperty(['svc.cicd.pipeline.run.coverage'])
})
