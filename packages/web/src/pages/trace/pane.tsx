// biome-ignore-all lint/a11y/noNoninteractiveTabindex: the body of a tab scrolls, so the keyboard has to reach it
import { useEffect, useRef } from 'preact/hooks'
import { getJson } from '../../api/client.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { useResource } from '../../components/resource.ts'
import { Status } from '../../components/status.tsx'
import { place, setQuery } from '../../location.ts'
import { AttributesTab } from './attributes-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { pageUrl } from './forge-page.ts'
import { LogsTab, type StoredRecord } from './logs-tab.tsx'
import { durationText, nameText, reasonText, shortName, statusLooks } from './trace-text.ts'
import type { TraceNode, TraceTree } from './trace-tree.ts'
import { Usual } from './usual.tsx'

interface PaneProps {
  readonly traceId: string
  readonly tree: TraceTree
  readonly node: TraceNode
  readonly onClose: () => void
}

const tabs = ['Attributes', 'Logs', 'Events'] as const
type Tab = (typeof tabs)[number]

const MAX_RECORDS = 200

/** Shows the attributes, log records and events of the selected span. */
export function Pane({ traceId, tree, node, onClose }: PaneProps) {
  const { span } = node
  const element = useRef<HTMLElement>(null)
  const asked = place.value.query.get('tab')
  const shown = tabs.find((tab) => tab.toLowerCase() === asked) ?? 'Attributes'
  const logs = useResource(`${traceId}/${span.id}`, (signal) => readRecords(traceId, span.id, signal))
  const counts: Readonly<Record<Tab, string>> = {
    Attributes: String((span.wire.attributes?.length ?? 0) + span.resource.length),
    Logs:
      logs.data === undefined || logs.isLoading
        ? ''
        : `${logs.data.length}${logs.data.length >= MAX_RECORDS ? '+' : ''}`,
    Events: String(span.wire.events?.length ?? 0),
  }
  useEffect(() => {
    for (const body of element.current?.querySelectorAll('.panel-body') ?? []) body.scrollTop = 0
  }, [span.id])
  return (
    <aside class="pane" aria-label="Selected span" ref={element}>
      <div class="top">
        <div class="row">
          <h2>
            <bdi>{nameText(span.name)}</bdi>
          </h2>
          {span.status === 'none' ? null : (
            <Status meaning={statusLooks[span.status].meaning} isChip>
              {statusLooks[span.status].label}
            </Status>
          )}
          <button class="btn quiet small" type="button" aria-label="Close pane" onClick={onClose}>
            <CloseIcon />
          </button>
        </div>
        <p class="soft">
          {summaryOf(node).map((part, index) => (
            <bdi key={part}>{`${index === 0 ? '' : ', '}${part}`}</bdi>
          ))}
        </p>
        <Usual traceId={traceId} node={node} />
        <Links traceId={traceId} tree={tree} node={node} />
      </div>
      <TabList shown={shown} counts={counts} />
      {tabs.map((tab) => (
        <div
          key={tab}
          class="panel-body"
          role="tabpanel"
          id={`pane-${tab}`}
          aria-labelledby={`tab-${tab}`}
          hidden={tab !== shown}
          tabIndex={0}
        >
          {tab !== shown ? null : tab === 'Attributes' ? (
            <AttributesTab key={span.id} span={span} />
          ) : tab === 'Logs' ? (
            <LogsTab logs={logs} />
          ) : (
            <EventsTab key={span.id} span={span} baseNs={tree.baseNs} />
          )}
        </div>
      ))}
    </aside>
  )
}

async function readRecords(traceId: string, spanId: string, signal: AbortSignal): Promise<StoredRecord[]> {
  const query = { trace_id: traceId, span_id: spanId, limit: MAX_RECORDS }
  const records = await getJson<StoredRecord[]>('/api/v1/observe/logs', query, signal)
  return records.filter(({ record }) => record.spanId === spanId).reverse()
}

/** Returns one line about a span: why it failed, how long it ran and waited, and where. */
function summaryOf({ span, attempt }: TraceNode): string[] {
  const why = reasonText(span)?.text
  const length = durationText(span.endNs - span.startNs)
  const parts = [
    !span.executed ? (why ?? 'not started') : why === undefined ? `ran ${length}` : `${why} after ${length}`,
    span.queuedNs > 0 ? `queued ${durationText(span.queuedNs)}` : '',
    attempt === undefined ? '' : `attempt ${attempt.number} of ${attempt.of}`,
    span.worker === undefined ? '' : `on ${nameText(span.worker)}`,
    span.kind === 'span' && span.service !== '' ? `service ${nameText(span.service)}` : '',
  ]
  return parts.filter((part) => part !== '')
}

function Links({ traceId, tree, node }: Omit<PaneProps, 'onClose'>) {
  const { span } = node
  const forgePage = pageUrl(span.url)
  const others = (span.wire.links ?? []).filter(({ spanId, traceId: other }) => isId(spanId, 16) && isId(other, 32))
  return (
    <p class="pane-links">
      {forgePage === undefined ? null : (
        <a href={forgePage} target="_blank" rel="noopener noreferrer">
          {span.kind === 'pipeline' ? 'Pipeline' : 'Job'} {span.runId === undefined ? '' : nameText(span.runId)} in
          forge
        </a>
      )}
      <a href={logsAddress(traceId, tree)}>Logs of this trace</a>
      <CopyButton class="link" text={spanAddress(traceId, span.id)} label="Copy link to this span" />
      {others.slice(0, 10).map((link) => {
        const target = link.traceId === traceId ? tree.nodes.get(link.spanId!) : undefined
        const href = `/traces/${link.traceId}?span=${link.spanId}`
        const name = target === undefined ? 'Linked span in another trace' : `Linked: ${shortName(target.span)}`
        return (
          <a key={`${link.traceId}${link.spanId}`} href={href}>
            <bdi>{target?.attempt === undefined ? name : `Attempt ${target.attempt.number}`}</bdi>
          </a>
        )
      })}
    </p>
  )
}

const AROUND_NS = 60_000_000_000n

/** Returns the address of the log records of a trace, with a minute before its first span and after its last one. */
function logsAddress(traceId: string, { baseNs, durationNs }: TraceTree): string {
  const since = baseNs - AROUND_NS
  const until = baseNs + BigInt(Math.ceil(durationNs)) + AROUND_NS
  return `/logs?${new URLSearchParams({ trace: traceId, since: String(since < 0n ? 0n : since), until: String(until) })}`
}

/** Returns the address of a span, without the state of this view. */
const spanAddress = (traceId: string, spanId: string): string =>
  `${location.origin}/traces/${encodeURIComponent(traceId)}?span=${encodeURIComponent(spanId)}`

const isId = (id: string | undefined, length: number): boolean =>
  id !== undefined && id.length === length && /^[0-9a-f]+$/.test(id)

function TabList({ shown, counts }: { readonly shown: Tab; readonly counts: Readonly<Record<Tab, string>> }) {
  const list = useRef<HTMLDivElement>(null)
  const select = (tab: Tab) => setQuery({ tab: tab === 'Attributes' ? null : tab.toLowerCase() }, { replace: true })
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (tabs.indexOf(shown) + step + tabs.length) % tabs.length
    select(tabs[next]!)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label="Span details" ref={list} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab}
          role="tab"
          type="button"
          id={`tab-${tab}`}
          aria-controls={`pane-${tab}`}
          aria-selected={tab === shown}
          tabIndex={tab === shown ? 0 : -1}
          onClick={() => select(tab)}
        >
          {tab}
          <span class="n" aria-hidden="true">
            {counts[tab]}
          </span>
        </button>
      ))}
    </div>
  )
}

function CloseIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="m4 4 8 8m0-8-8 8" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
    </svg>
  )
}
