import { type Conversion, type ConvertOptionsInput, convert, convertChunks, resolveOptions } from '@penstock/converter'
import {
  decodeRequest,
  type Encoding,
  encodeRequest,
  type KeyValue,
  type Metric,
  RequestEncoder,
  type Signal,
  signalNames,
} from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { jobAttributes } from '../../packages/converter/src/attributes/job-attributes.ts'
import { linkAttributes } from '../../packages/converter/src/attributes/link-attributes.ts'
import { logAttributes } from '../../packages/converter/src/attributes/log-attributes.ts'
import { pipelineAttributes } from '../../packages/converter/src/attributes/pipeline-attributes.ts'
import { pointAttributes } from '../../packages/converter/src/attributes/point-attributes.ts'
import { resourceAttributes } from '../../packages/converter/src/attributes/resource-attributes.ts'
import { stageAttributes } from '../../packages/converter/src/attributes/stage-attributes.ts'
import { stepAttributes } from '../../packages/converter/src/attributes/step-attributes.ts'
import { vendorKey } from '../../packages/converter/src/base/attribute-table.ts'
import { job, run, step } from '../../packages/converter/src/other-forges.harness.ts'
import { absentRunnerFields } from '../../packages/forges/src/record/absent-fields.ts'
import { bodiesOf, caseNames, variants } from '../fixtures.ts'
import { convertEach, type ExportedRun, pointsOf } from './exported-run.ts'

/** The time of receipt, for cases that contain no time. Any value serves. */
const receivedAtNs = 1_790_000_000_000_000_000n
const encodings: readonly Encoding[] = ['json', 'protobuf']
const canaries = ['canary-secret-5d1e77', 'CANARY_KEY_81c2', 'canary-mail-90aa', 'canary-avatar-90aa']

const tables = [
  resourceAttributes,
  pipelineAttributes,
  jobAttributes,
  stageAttributes,
  stepAttributes,
  linkAttributes,
  logAttributes,
  pointAttributes,
]

interface Subject {
  readonly title: string
  readonly bodies: readonly unknown[]
  readonly options: ConvertOptionsInput
}

const subjects: readonly Subject[] = [
  ...caseNames.map((name) => ({ title: name, bodies: bodiesOf(name), options: {} })),
  ...caseNames.map((name) => ({
    title: `${name}, everything on`,
    bodies: bodiesOf(name),
    options: {
      exportBlocked: true,
      exportUnknown: true,
      reexport: 'link',
      stageSpans: true,
      pendingPoint: true,
      eventNames: true,
      refinedResults: true,
      user: 'hash',
    } as const,
  })),
  ...variants.map((each) => ({
    title: `${each.case}, ${each.variant}`,
    bodies: bodiesOf(each.case),
    options: each.options,
  })),
]

const runsOf = ({ bodies, options }: Subject): ExportedRun[] =>
  convertEach(bodies, options, receivedAtNs).flatMap(({ exported }) => exported ?? [])

const itemsOf = <S extends Signal>(conversion: Conversion, signal: S) =>
  conversion[signal].resources[0]!.scopes[0]!.items as Conversion[S]['resources'][number]['scopes'][number]['items']

/** Returns every attribute list of a conversion. */
function attributeListsOf({ conversion, spans, metrics }: ExportedRun): (readonly KeyValue[])[] {
  return [
    ...signalNames.map((signal) => conversion[signal].resources[0]!.resource.attributes),
    ...spans.flatMap((span) => [span.attributes, ...span.links.map((link) => link.attributes)]),
    ...itemsOf(conversion, 'logs').map((record) => record.attributes),
    ...Object.values(metrics).flatMap((metric) => pointsOf(metric).map((point) => point.attributes)),
  ]
}

/** Merges the parts of a metric that has more points than a chunk may contain. */
function mergeSplitMetrics(items: readonly object[]): object[] {
  const wholes: object[] = []
  for (const item of items) {
    const last = wholes.at(-1)
    if (last !== undefined && isMetric(last) && isMetric(item) && last.name === item.name) {
      const data = { ...last.data, dataPoints: [...pointsOf(last), ...pointsOf(item)] }
      wholes[wholes.length - 1] = { ...last, data }
    } else wholes.push(item)
  }
  return wholes
}

const isMetric = (item: object): item is Metric => 'data' in item

/** Returns the body with its jobs in reverse order. */
function reversed(body: unknown): unknown {
  const lists = ['builds', 'jobs', 'bridges'] as const
  const copy = { ...(body as Record<string, unknown>) }
  for (const list of lists) {
    if (Array.isArray(copy[list])) copy[list] = copy[list].toReversed()
  }
  return copy
}

describe.each(subjects.map((subject) => [subject.title, subject] as const))('%s', (_title, subject) => {
  const options = resolveOptions(subject.options)

  test('converting twice gives the same result', () => {
    for (const { record, conversion } of runsOf(subject)) expect(convert(record, options)).toEqual(conversion)
  })

  test('the order of the jobs does not matter', () => {
    const other = runsOf({ ...subject, bodies: subject.bodies.map(reversed) })
    expect(other.map(({ conversion }) => conversion)).toEqual(runsOf(subject).map(({ conversion }) => conversion))
  })

  test.each(encodings)('%s decodes to the converted data, and contains no canary', (encoding) => {
    for (const { conversion } of runsOf(subject)) {
      for (const signal of signalNames) {
        const bytes = encodeRequest(signal, conversion[signal], encoding)
        expect(decodeRequest(signal, bytes, encoding)).toEqual(conversion[signal])
        for (const canary of canaries) expect(Buffer.from(bytes).includes(canary)).toBe(false)
      }
    }
  })

  test('the bodies of small chunks together equal the whole', () => {
    for (const { record, conversion } of runsOf(subject)) {
      for (const encoding of encodings) {
        const encoder = new RequestEncoder(encoding)
        const limits = { maxItems: 2, maxBytes: 1024 * 1024 }
        const chunks = [...convertChunks(record, options, { signals: signalNames, encoder, limits })]
        for (const signal of signalNames) {
          const groups = chunks
            .filter((chunk) => chunk.signal === signal)
            .map(({ body }) => decodeRequest(signal, body, encoding).resources[0]!)
          const items = groups.flatMap((group): readonly object[] => group.scopes[0]!.items)
          expect(mergeSplitMetrics(items)).toEqual(itemsOf(conversion, signal))
          for (const { resource } of groups) expect(resource).toEqual(conversion[signal].resources[0]!.resource)
        }
      }
    }
  })

  test('no attribute list contains a key twice', () => {
    for (const run of runsOf(subject)) {
      for (const list of attributeListsOf(run)) {
        const keys = list.map(({ key }) => key)
        expect(keys).toEqual([...new Set(keys)])
      }
    }
  })
})

const allRuns = () =>
  subjects.flatMap((subject) =>
    runsOf(subject).map((run) => ({ run, namespace: subject.options.vendorNamespace ?? 'svc' })),
  )

test('each key has one type in the whole corpus', () => {
  const typesByKey = new Map<string, Set<string>>()
  for (const { run } of allRuns()) {
    for (const { key, type, value } of attributeListsOf(run).flat()) {
      const precise = type === 'array' ? `array of ${value.map((element) => element.type).join()}` : type
      const types = typesByKey.get(key) ?? new Set()
      typesByKey.set(key, types.add(precise.replace(/(,string)+$/, '')))
    }
  }
  expect([...typesByKey].filter(([, types]) => types.size > 1)).toEqual([])
  expect(typesByKey.get('pipeline.stages')).toEqual(new Set(['array of string']))
})

test('every key is in an attribute table, with the type that is sent', () => {
  const rows = tables.flatMap((table) =>
    table.map(({ keys, type }) => ({ keys, type: type === 'string[]' ? 'array' : type })),
  )
  const strays = new Set<string>()
  for (const { run, namespace } of allRuns()) {
    const known = new Set(rows.flatMap(({ keys, type }) => keys.map((key) => `${vendorKey(key, namespace)} ${type}`)))
    known.add(`${namespace}.cicd.pipeline.trace_id string`)
    for (const { key, type } of attributeListsOf(run).flat())
      if (!known.has(`${key} ${type}`)) strays.add(`${key} ${type}`)
  }
  expect([...strays]).toEqual([])
})

/** A run with what only forges other than GitLab tell. */
const otherForgeRun = run({
  attempt: 2,
  jobs: [
    job({
      runner: { ...absentRunnerFields, id: 3n, group: 'large', url: 'https://ci.example.com/runners/3' },
      steps: [{ ...step('npm test', 'success', 10, 40), section: { title: 'Tests', parent: undefined } }],
      failure: { lines: 'Error: expected 1', fingerprint: '0123456789abcdef' },
      environment: {
        name: 'production',
        action: undefined,
        deploymentTier: undefined,
        deployment: { id: 7n, name: 'production' },
      },
    }),
  ],
})

test('the corpus contains every key of every table', () => {
  const seen = new Set(
    allRuns().flatMap(({ run }) =>
      attributeListsOf(run)
        .flat()
        .map(({ key }) => key),
    ),
  )
  for (const { attributes } of itemsOf(convert(otherForgeRun), 'traces')) {
    for (const { key } of attributes) seen.add(key)
  }
  const unseen = tables.flatMap((table) => table.flatMap(({ keys }) => keys)).filter((key) => !seen.has(key))
  expect(unseen).toEqual([])
})
