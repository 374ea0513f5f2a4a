import { parseLossless, RecordError } from '@penstock/forges'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hook, jobHook } from '../exporting.harness.ts'
import { readBody } from './received-body.ts'

const secret = [{ key: 'PASSWORD', value: 'CANARY' }]

test('keeps a body without variables unchanged', () => {
  for (const more of [{}, { variables: [] }, { variables: null }]) {
    const text = `${hook({ id: 1, more })} \n`
    expect(readBody(text).text).toBe(text)
  }
})

test.each([
  ['plainly', JSON.stringify({ object_attributes: { id: 1, status: 'success', variables: secret } })],
  ['escaped', '{"object_attributes":{"id":1,"status":"success","v\\u0061riables":[{"value":"CANARY"}]}}'],
  [
    'twice',
    '{"object_attributes":{"id":1,"variables":["CANARY"]},"object_attributes":{"id":1,"status":"success","variables":[]}}',
  ],
])('edge 58: removes variables that occur %s', (_, text) => {
  const kept = readBody(text).text
  expect(JSON.parse(kept)).toEqual({ object_attributes: { id: 1, status: 'success' } })
})

test('keeps everything else, to the last digit', () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom('\0', '\0\0', '\u00001', '\\u0000', '"'))
  const values = fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), fc.array(texts))
  fc.assert(
    fc.property(
      fc.dictionary(texts, values),
      texts,
      fc.oneof(fc.constant(10n ** 15n), fc.bigInt({ min: 10n ** 15n, max: 2n ** 63n - 1n })),
      (extra, ref, size) => {
        const rest = { object_attributes: { id: 1, status: 'success', ref }, extra, size: 'SIZE' }
        const whole = { ...rest, object_attributes: { ...rest.object_attributes, variables: secret } }
        const textOf = (value: unknown) => JSON.stringify(value).replace('"size":"SIZE"}', `"size":${size}}`)
        expect(parseLossless(readBody(textOf(whole)).text)).toEqual(parseLossless(textOf(rest)))
      },
    ),
  )
})

const project = {
  id: 7,
  name: 'tools',
  web_url: 'https://svc.example.test/ops/tools',
  path_with_namespace: 'ops/tools',
  default_branch: null,
}
const withSource = (from: object, more: object) =>
  JSON.stringify({
    object_attributes: { id: 1, status: 'success', variables: secret },
    source_pipeline: { pipeline_id: 2, ...from },
    ...more,
  })

describe('with a given project', () => {
  test.each([
    ['nothing', ''],
    ['another', '"project":{"id":1,"web_url":"https://elsewhere.example.test/x","namespace":"X"},'],
    ['two', '"project":{"id":1},"project":{"id":2},'],
    ['no object', '"project":"x",'],
  ])('replaces the project of a body that names %s, and keeps the rest to the last digit', (_, named) => {
    const rest = '"__proto__":{"a":1},"size":9223372036854775807,"object_attributes":{"id":1,"status":"success"}}'
    const { input, text } = readBody(`{${named}${rest}`, { project })
    expect(parseLossless(text)).toEqual({ ...(parseLossless(`{${rest}`) as object), project })
    expect(text).toContain('"__proto__":{"a":1}')
    expect(input).toMatchObject({ record: { project: { id: 7n, webUrl: project.web_url, path: 'ops/tools' } } })
  })

  test.each<[string, object, object, boolean]>([
    ['its own, by our names', { project: { id: 7 } }, { project: { id: 1 } }, false],
    ['its own, by the names of the body', { project: { id: 1 } }, { project: { id: 1 } }, false],
    [
      'its own, by its path',
      { project: { path_with_namespace: 'g/p' } },
      { project: { path_with_namespace: 'g/p' } },
      false,
    ],
    ['another', { project: { id: 2 } }, { project: { id: 1 } }, true],
    ['another, where the body names none', { project: { id: 2 } }, {}, true],
    ['no project', {}, { project: { id: 1 } }, false],
  ])('reads a source pipeline of %s', (_, from, more, otherProject) => {
    const { input, text } = readBody(withSource(from, more), { project })
    expect(input).toMatchObject({ record: { upstream: { pipelineId: 2n, otherProject } } })
    expect(readBody(text).input).toEqual(input)
    expect(text).not.toContain('CANARY')
  })

  test.each(['', '{', '[]', '7', 'null', '{}'])('refuses %j', (text) => {
    expect(() => readBody(text, { project })).toThrow(RecordError)
  })
})

test('refuses a body that is not a record', () => {
  for (const text of ['', '{', '[]', '{"object_attributes":{"id":0,"status":"success"}}']) {
    expect(() => readBody(text)).toThrow(RecordError)
  }
})

test.each([
  { name: 'pipeline', of: (host: string) => hook({ id: 1, host }) },
  { name: 'job', of: (host: string) => jobHook({ project: { id: 1, web_url: `https://${host}/a/b` } }) },
])('refuses a $name with a host longer than DNS allows, because no database could index it', ({ of }) => {
  const host = `${'a'.repeat(251)}.b`
  expect(readBody(of(`${host}:60000`)).text).toContain(host)
  expect(() => readBody(of(`${'a'.repeat(3_000)}.b`))).toThrow(
    new RecordError('project.web_url', 'contains a host name that is too long'),
  )
})

test.each([
  ['of the pipeline', { pipeline: { id: 1, status: 'success', variables: secret }, jobs: [] }],
  ['beside it', { pipeline: { id: 1, status: 'success' }, variables: secret, jobs: [] }],
  ['of a pipeline with its jobs inside', { id: 1, status: 'success', variables: secret, jobs: [] }],
])('edge 58: removes variables of a REST API response %s', (_, body) => {
  expect(readBody(JSON.stringify(body)).text).not.toContain('variables')
})

test.each([
  [
    'Buildkite',
    {
      event: 'build.finished',
      build: { id: 'b', state: 'passed', env: { KEY: 'CANARY' }, meta_data: { a: 'CANARY' } },
    },
  ],
  ['Azure', { build: { id: 1, status: 'completed', parameters: '{"a":"CANARY"}' }, timeline: null }],
  ['Drone', { action: 'updated', repo: {}, build: { id: 1, status: 'success', params: { KEY: 'CANARY' } } }],
  [
    'Jenkins',
    {
      build: {
        number: 1,
        url: 'https://ci.example.com/job/x/1/',
        result: 'SUCCESS',
        actions: [{ parameters: [{ name: 'KEY', value: 'CANARY' }] }, null],
      },
      stages: null,
    },
  ],
])('removes the variables of %s, and reads the same afterwards', (_, body) => {
  const read = readBody(JSON.stringify(body))
  expect(read.text).not.toContain('CANARY')
  expect(readBody(read.text).input).toEqual(read.input)
})
