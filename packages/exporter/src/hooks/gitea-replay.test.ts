import { decodeRequest } from '@penstock/otlp'
import { afterEach, expect, test } from 'vitest'
import { fixture, HookReceiver } from './hook-receiver.harness.ts'

/** The secret that the webhooks were recorded with. */
const secretToken = 'the secret of the hooks'
/** More than a run may wait for hooks of its jobs. */
const LONG_MS = 3_600_000

interface RecordedHook {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

let receiver: HookReceiver
afterEach(() => receiver.close())

const spansIn = (json: string | Uint8Array) =>
  decodeRequest('traces', Buffer.from(json), 'json').resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ items }) => items.map((span) => ({ ...span, resource }))),
  )

/** Returns the spans of the answers of REST about a run, as the golden files have them. */
const goldenSpans = (name: string) => spansIn(fixture(`golden/${name}.traces.json`))

const byId = <Item extends { readonly spanId: string }>(spans: readonly Item[]) =>
  spans.toSorted((one, other) => one.spanId.localeCompare(other.spanId))

test.each([
  ['gitea-1-26-failed-then-rerun', ['gitea-1-26-failed-rest', 'gitea-1-26-rerun-rest']],
  ['gitea-1-26-matrix-needs-and-skipped-job', ['gitea-1-26-matrix-rest']],
  ['gitea-1-26-tag-and-workflow-without-name', ['gitea-1-26-tag-rest']],
  ['gitea-1-26-organisation-webhook', ['gitea-1-26-tag-rest']],
  ['gitea-1-26-system-webhook', ['gitea-1-26-tag-rest']],
  ['gitea-1-26-pull-request', ['gitea-1-26-pull-request-rest']],
])('%s: the recorded hooks become the spans of what REST answers, once each', async (name, bundles) => {
  const source = { forge: 'gitea', secretToken, signals: ['traces'], encoding: 'json' }
  receiver = await HookReceiver.start({ sources: { forge: source } })
  const hooks: readonly RecordedHook[] = JSON.parse(fixture(`pipelines/${name}.json`))
  for (const { headers, body } of [...hooks, ...hooks]) {
    expect(await receiver.post(body, headers)).toMatchObject({ status: 202 })
  }
  await receiver.clock.advance(LONG_MS)
  const requests = await receiver.exported(bundles.length)
  const exported = requests.flatMap(({ body }) => spansIn(body))
  expect(byId(exported)).toEqual(byId(bundles.flatMap(goldenSpans)))
})
