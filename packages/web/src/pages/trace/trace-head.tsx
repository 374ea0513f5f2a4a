import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { keptFilters } from '../../app/kept-filters.ts'
import { Forge } from '../../components/forge.tsx'
import { Status } from '../../components/status.tsx'
import { Duration, numberText, Time } from '../../components/text.tsx'
import { place } from '../../location.ts'
import { pageUrl } from './forge-page.ts'
import { runFacts } from './run-facts.ts'
import type { TraceModel } from './trace-model.ts'
import { nameText, statusLooks } from './trace-text.ts'

interface TraceHeadProps {
  readonly traceId: string
  readonly model: TraceModel
  readonly onSelect: (id: string) => void
}

/** The head of the page: what ran, its facts, and a sentence about what failed and what made it slow. */
export function TraceHead({ traceId, model, onSelect }: TraceHeadProps) {
  const { root, sentence, tree } = model
  const isRun = root?.span.kind === 'pipeline'
  const facts = useMemo(() => (root === undefined ? undefined : runFacts(root.span)), [root])
  const forgePage = pageUrl(facts?.url)
  const commitPage = pageUrl(facts?.commitUrl)
  const { label, meaning } = statusLooks[root?.span.status ?? 'none']
  return (
    <>
      <div class="head">
        <div>
          <div class="crumbs">
            <a href={keptFilters.addressOfPath(isRun ? '/pipelines' : '/traces', place.value)}>
              {isRun ? 'Pipelines' : 'Traces'}
            </a>
            <span aria-hidden="true">/</span>
            <bdi>{nameText((isRun ? facts?.project : root?.span.service) ?? traceId)}</bdi>
          </div>
          <div class="title">
            <h1>
              <bdi>{nameText((isRun ? facts?.title : root?.span.name) ?? 'Trace')}</bdi>
            </h1>
            {label === '' ? null : (
              <Status meaning={meaning} isChip>
                {label}
              </Status>
            )}
          </div>
        </div>
        <div class="end">
          {isRun ? (
            <a class="btn quiet" href={`/compare?a=${traceId}&b=median`}>
              {facts?.ref === undefined ? (
                'Compare with the median'
              ) : (
                <bdi>Compare with median of {nameText(facts.ref)}</bdi>
              )}
            </a>
          ) : null}
          <a
            class="btn quiet"
            href={`/api/v1/observe/traces/${encodeURIComponent(traceId)}`}
            target="_blank"
            rel="noopener"
          >
            Raw OTLP
          </a>
          {forgePage === undefined ? null : (
            <a class="btn" href={forgePage} target="_blank" rel="noopener noreferrer">
              Open in forge <ForgeIcon />
            </a>
          )}
        </div>
      </div>
      <dl class="facts">
        <Fact name="Duration">
          <b>
            <Duration seconds={(isRun ? root.span.endNs - root.span.startNs : tree.durationNs) / 1e9} />
          </b>
        </Fact>
        {facts?.busySeconds === undefined ? null : (
          <Fact name="Busy">
            <Duration seconds={facts.busySeconds} />
          </Fact>
        )}
        {facts?.queueSeconds === undefined ? null : (
          <Fact name="Queue">
            <Duration seconds={facts.queueSeconds} />
          </Fact>
        )}
        {isRun ? null : <Fact name="Spans">{numberText(tree.nodes.size)}</Fact>}
        {!isRun || facts?.forge === undefined ? null : (
          <Fact name="Forge">
            <Forge forge={facts.forge} />
          </Fact>
        )}
        {facts?.ref === undefined ? null : (
          <Fact name="Ref" isRef>
            {facts.ref}
          </Fact>
        )}
        {facts?.sha === undefined ? null : (
          <Fact name="Commit">
            {commitPage === undefined ? (
              <span class="ref">{facts.sha}</span>
            ) : (
              <a class="ref" href={commitPage} target="_blank" rel="noopener noreferrer">
                {facts.sha}
              </a>
            )}{' '}
            {facts.commit === undefined ? null : <bdi>{facts.commit}</bdi>}
          </Fact>
        )}
        {facts?.trigger === undefined ? null : <Fact name="Trigger">{nameText(facts.trigger)}</Fact>}
        {root === undefined ? null : (
          <Fact name="Started">
            <Time at={String(tree.baseNs + BigInt(Math.round(root.span.startNs)))} />
          </Fact>
        )}
      </dl>
      {sentence.length === 0 ? null : (
        <p class="lede">
          {sentence.map(({ text, strong, spanId }, index) => {
            const content = <bdi>{text}</bdi>
            if (spanId !== undefined) {
              return (
                <b key={index}>
                  <a
                    href={`?span=${spanId}`}
                    onClick={(event) => {
                      event.preventDefault()
                      onSelect(spanId)
                    }}
                  >
                    {content}
                  </a>
                </b>
              )
            }
            return strong ? <b key={index}>{content}</b> : <span key={index}>{content}</span>
          })}
        </p>
      )}
    </>
  )
}

function Fact({
  name,
  isRef = false,
  children,
}: {
  readonly name: string
  readonly isRef?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isRef ? 'ref' : undefined}>
        <bdi>{children}</bdi>
      </dd>
    </div>
  )
}

function ForgeIcon() {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M9 2.5h4.5V7M13 3 7.5 8.5M11.5 9.5v4h-9v-9h4" fill="none" stroke="currentColor" stroke-width="1.3" />
    </svg>
  )
}
