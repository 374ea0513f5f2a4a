import type { ComponentChildren } from 'preact'
import type { EnforcementMode, Finding, Readiness } from '../../api/answers.ts'
import { getInsights } from '../../api/insights.ts'
import { getReadiness, getState } from '../../api/readiness.ts'
import { countClients } from '../../api/refused-names.ts'
import { FindingText } from '../../components/finding.tsx'
import { nowMs } from '../../components/now.ts'
import { type Resource, useResource } from '../../components/resource.ts'
import { numberText, Time } from '../../components/text.tsx'
import { toMilliseconds } from '../../components/time.ts'

interface FindingsProps {
  readonly project: string | null
  readonly service: string | null
}

const DAYS = 14

/** The statements above the runs: what was slower yesterday, which job is flaky, and who would be refused. */
export function Findings({ project, service }: FindingsProps) {
  const insights = useResource(JSON.stringify([project, service]), (signal) => {
    const since = new Date(Date.now() - DAYS * 86_400_000).toISOString()
    return getInsights({ project, service, since }, signal)
  })
  const ingest = useResource('ingest', async (signal) => {
    const [readiness, state] = await Promise.all([getReadiness(undefined, signal), getState(signal)])
    return { readiness, mode: state.data.mode }
  })
  const found = (rule: string) => insights.data?.findings.find((finding) => finding.rule === rule)
  return (
    <section class="panel findings" aria-label="Findings">
      <Cell title="What made yesterday slower" resource={insights}>
        <Statement finding={found('slower_yesterday')}>Nothing stands out.</Statement>
      </Cell>
      <Cell title="Flaky job" resource={insights}>
        <Statement finding={found('flaky_job')}>
          No job passed and failed on the same commit more than once in {DAYS} days.
        </Statement>
      </Cell>
      <Cell title="Ingest, if enforced now" resource={ingest}>
        {ingest.data === undefined ? null : <Refusals {...ingest.data} />}
      </Cell>
    </section>
  )
}

interface CellProps {
  readonly title: string
  readonly resource: Resource<unknown>
  readonly children: ComponentChildren
}

function Cell({ title, resource, children }: CellProps) {
  const { data, error, isLoading } = resource
  return (
    <div class="finding" aria-busy={isLoading}>
      <h2>{title}</h2>
      <p>{data !== undefined ? children : error === undefined || isLoading ? ' ' : `Not known: ${error.message}`}</p>
    </div>
  )
}

interface StatementProps {
  readonly finding: Finding | undefined
  /** The sentence if there is no finding. */
  readonly children: ComponentChildren
}

function Statement({ finding, children }: StatementProps) {
  return finding === undefined ? <span>{children}</span> : <FindingText finding={finding} />
}

interface RefusalsProps {
  readonly readiness: Readiness
  readonly mode: EnforcementMode
}

const modeSentences = {
  off: 'Enforcement is off.',
  report: 'Enforcement only reports.',
  warn: 'Enforcement only warns.',
  enforce: 'Enforcement is on.',
} as const

function Refusals({ readiness, mode }: RefusalsProps) {
  const { clients, would_reject, requests, window_seconds, observed_since } = readiness
  const isEnforced = mode === 'enforce'
  // A restart of the gateway clears the report.
  const isShort = toMilliseconds(observed_since) > nowMs.value - window_seconds * 1000
  const span = isShort ? (
    <>
      since <Time at={observed_since} precision="minute" />
    </>
  ) : (
    `in ${Math.round(window_seconds / 3600)} h`
  )
  if (requests === 0) {
    return (
      <>
        <a href="/ingest">No client</a> has sent anything {span}. {modeSentences[mode]}
      </>
    )
  }
  if (clients.length === 0) {
    return (
      <>
        <a href="/ingest">No client</a> {isEnforced ? 'is' : 'would be'} refused, of {requestsText(requests)} {span}.{' '}
        {modeSentences[mode]}
      </>
    )
  }
  const count = countClients(clients)
  const isOne = count === 1
  return (
    <>
      <a href="/ingest">
        <b>
          {count} {isOne ? 'client' : 'clients'} {isEnforced ? (isOne ? 'is' : 'are') : 'would be'} refused
        </b>
      </a>
      , {requestsText(would_reject)} {span}. {modeSentences[mode]}
    </>
  )
}

function requestsText(count: number): string {
  return `${numberText(count)} ${count === 1 ? 'request' : 'requests'}`
}
