import type { RunId, UpstreamPipeline } from '@penstock/forges/record'
import type { SpanLink } from '@penstock/otlp'
import type { LinkContext } from '../attributes/link-attributes.ts'
import type { PlannedJob, PlannedRun } from '../attributes/plan.ts'
import { attributesFrom } from '../base/attribute-table.ts'
import {
  forgeIds,
  type IdSpace,
  joinedUpstream,
  ownSpace,
  recordSpace,
  upstreamInstance,
  upstreamRootId,
} from '../run/run.ts'
import { LOCAL, REMOTE } from './span-flags.ts'

/** The parent of a run's span in its own trace, and links to spans that are in other traces or may not exist. */
export interface Attachment {
  /** '' for a root span. */
  readonly parentSpanId: string
  readonly links: readonly SpanLink[]
}

/**
 * Returns the parent and the links of a pipeline's span. The parent of a child pipeline is the bridge that started it. If
 * bridges are not exported, that span would never exist, so the parent is the parent pipeline, with a link to the bridge.
 * A pipeline started from another project has its own trace and a link.
 */
export function pipelineAttachment(run: PlannedRun): Attachment {
  const links = [...previousAttemptLinks(run), ...laterCompletionLinks(run)]
  const upstream = joinedUpstream(run.record, run.options)
  if (upstream === undefined) return { parentSpanId: '', links: [...upstreamLinks(run), ...links] }
  const { trace } = run
  const bridgeSpanId = bridgeSpanIdOf(trace, run.rootId, upstream)
  if (bridgeSpanId !== undefined && exportsBridges(run, upstream)) return { parentSpanId: bridgeSpanId, links }
  return {
    parentSpanId: trace.ids.pipelineSpanId(trace.instance, run.rootId, upstream.pipelineId),
    links:
      bridgeSpanId === undefined
        ? links
        : [link(run, inTrace(run, bridgeSpanId), REMOTE, 'upstream_pipeline'), ...links],
  }
}

/** Returns the link from a retried attempt to the previous attempt. */
export function attemptLinks({ job, run }: PlannedJob): readonly SpanLink[] {
  if (job.previousAttemptId === undefined) return []
  const previous = { id: job.previousAttemptId, bridge: job.bridge }
  const spanId = run.ids.jobSpanId(run.instance, run.rootId, run.record.id, previous)
  return [link(run, inTrace(run, spanId), LOCAL, 'previous_attempt')]
}

/** Returns the link from an attempt of a run to the attempt before it, which has a trace of its own. */
function previousAttemptLinks(run: PlannedRun): readonly SpanLink[] {
  const { record, plan } = run
  const { previousAttempt: previous } = record
  if (previous === undefined) return []
  const { ids, instance } = recordSpace({ ...record, attempt: previous.attempt }, plan)
  const isRoot = run.rootId === record.id
  const rootId = isRoot ? previous.runId : run.rootId
  const target: Target = {
    traceId: isRoot ? ids.traceId(instance, rootId) : run.traceId,
    spanId: ids.pipelineSpanId(instance, rootId, previous.runId),
    traceState: ids.traceState(instance, rootId),
  }
  return [link(run, target, REMOTE, 'previous_attempt')]
}

function upstreamLinks(run: PlannedRun): readonly SpanLink[] {
  const { upstream } = run.record
  if (upstream === undefined || upstream.pipelineId === run.record.id || upstream.standing === 'unknown') return []
  const space = upstreamSpace(run, upstream)
  const { ids, instance } = space
  const rootId = upstreamRootId(upstream)
  const target: Target = {
    traceId: ids.traceId(instance, rootId),
    spanId: bridgeSpanIdOf(space, rootId, upstream) ?? ids.pipelineSpanId(instance, rootId, upstream.pipelineId),
    traceState: ids.traceState(instance, rootId),
  }
  return [link(run, target, REMOTE, 'upstream_pipeline')]
}

function upstreamSpace({ record, options, plan }: PlannedRun, upstream: UpstreamPipeline): IdSpace {
  if (upstream.instance !== undefined) return ownSpace(upstream.instance)
  return { ids: forgeIds(record, plan), instance: upstreamInstance(upstream, record, options) }
}

function laterCompletionLinks(run: PlannedRun): readonly SpanLink[] {
  if (run.record.previousExport === undefined || run.options.reexport !== 'link') return []
  const spanId = run.ids.pipelineSpanId(run.instance, run.rootId, run.record.id)
  return [link(run, inTrace(run, spanId), LOCAL, 'previous_completion')]
}

function bridgeSpanIdOf({ ids, instance }: IdSpace, rootId: RunId, upstream: UpstreamPipeline) {
  return upstream.bridgeId === undefined
    ? undefined
    : ids.jobSpanId(instance, rootId, upstream.pipelineId, { id: upstream.bridgeId, bridge: true })
}

/**
 * Returns whether the bridges of the upstream pipeline are exported. Under `auto` the parent's record decides, if the
 * caller has it. Otherwise a source that lists the bridges of this pipeline is expected to list those of its parent.
 */
function exportsBridges(
  { options: { bridgeSource }, record }: PlannedRun,
  { bridgeListed }: UpstreamPipeline,
): boolean {
  return bridgeSource === 'auto' ? (bridgeListed ?? record.bridgesListed) : bridgeSource !== 'none'
}

interface Target {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
}

/** Returns the link target for a span of this run's own trace. */
const inTrace = (run: PlannedRun, spanId: string): Target => ({
  traceId: run.traceId,
  spanId,
  traceState: run.traceState,
})

function link(run: PlannedRun, target: Target, origin: number, type: LinkContext['type']): SpanLink {
  return {
    ...target,
    attributes: attributesFrom(run.plan.linkAttributes, { type }, run.tally),
    droppedAttributesCount: 0,
    flags: run.ids.traceFlags | origin,
  }
}
