import {
  type CallContext,
  findNewest,
  findUser,
  type HookSwitchName,
  hookSwitches,
  hookSwitchNames,
  type Project,
  readContextOf,
  readNewestCommits,
  readPipelineFacts,
  readProjectFacts,
  type SampleKind,
} from '@penstock/core'
import { jobPayload } from '../payloads/job.ts'
import { pushPayload } from '../payloads/push.ts'
import { type Json, NO_SHA, projectJson } from '../payloads/shared-objects.ts'
import { eventSources } from './event-sources.ts'
import type { EventContext, HookEvent, ProjectEvent } from './hook-event.ts'

/** The payload of a test call, or the message that the project has nothing to show. */
export type Sample = { readonly payload: Json } | { readonly missing: string }

type Sampler = (context: EventContext & CallContext, project: Project) => Promise<Sample>

const missing = (what: string): Sample => ({ missing: `Ensure the project has ${what}.` })
const DAY_MS = 86_400_000

/** Returns a sampler that reports the newest thing of a kind as if it had just been created. */
const newestOf =
  (kind: SampleKind, what: string, type: string, select: (event: HookEvent) => boolean = () => true): Sampler =>
  async (context, project) => {
    const number = await findNewest(context, project.id, kind)
    if (number === undefined) return missing(what)
    const event: ProjectEvent = {
      type: type as ProjectEvent['type'],
      objectId: number,
      projectId: project.id,
      actorId: context.actor?.id,
      details: { iid: number },
      changes: kind === 'pipeline' ? { status: { previous: null, current: '' } } : {},
    }
    const events = await eventSources[type]!.eventsOf(context, event)
    const payload = events.find(select)?.payload
    return payload === undefined ? missing(what) : { payload }
  }

const pushSample =
  (kind: 'heads' | 'tags'): Sampler =>
  async (context, project) => {
    const facts = await readProjectFacts(context, project.id)
    const user = context.actor && (await findUser(context, context.actor.id))
    const newest = await readNewestCommits(context.core, project)
    const head = newest?.commits.at(-1)?.oid ?? NO_SHA
    const push = {
      ref: kind === 'tags' ? 'refs/tags/v1.0.0' : `refs/heads/${newest?.branch ?? 'main'}`,
      before: undefined,
      after: head,
      commits: kind === 'tags' ? [] : (newest?.commits ?? []),
      total: kind === 'tags' ? 0 : (newest?.total ?? 0),
    }
    return { payload: pushPayload({ facts, user, push }, context.core.settings.externalUrl) }
  }

/** The newest build of the newest pipeline. */
const jobSample: Sampler = async (context, project) => {
  const key = await findNewest(context, project.id, 'pipeline')
  if (key === undefined) return missing('CI jobs')
  const run = await readPipelineFacts(context, key)
  const job = run.jobs.findLast(({ isBridge }) => !isBridge)
  if (job === undefined) return missing('CI jobs')
  const facts = await readProjectFacts(context, project.id)
  return { payload: jobPayload({ facts, run, job }, context.core.settings.externalUrl) }
}

const wikiSample: Sampler = async () => ({ missing: 'Ensure the wiki is enabled and has pages.' })

/** A token that does not exist and expires in two days. */
const tokenSample =
  (kind: 'access_token' | 'deploy_token'): Sampler =>
  async (context, project) => {
    const { nowMs } = context
    const expiresAtMs = nowMs + 2 * DAY_MS
    const times = {
      created_at: `${new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
      expires_at: new Date(expiresAtMs).toISOString().slice(0, kind === 'access_token' ? 10 : 19),
    }
    const facts = await readProjectFacts(context, project.id)
    const common = { id: 1, name: 'sample token', ...times }
    const attributes =
      kind === 'access_token'
        ? { user_id: context.actor?.id ?? null, ...common, last_used_at: null }
        : { ...common, revoked: false, deploy_token_type: 'project_type' }
    return {
      payload: {
        object_kind: kind,
        project: projectJson(facts, context.core.settings.externalUrl),
        object_attributes: attributes,
        event_name: `expiring_${kind}`,
      },
    }
  }

/** The samples of events that can be tested. */
const samplers: Readonly<Partial<Record<HookSwitchName, Sampler>>> = {
  pushEvents: pushSample('heads'),
  tagPushEvents: pushSample('tags'),
  issuesEvents: newestOf('issue', 'issues', 'issue.created'),
  confidentialIssuesEvents: newestOf('issue', 'issues', 'issue.created'),
  mergeRequestsEvents: newestOf('merge_request', 'merge requests', 'merge_request.created'),
  milestoneEvents: newestOf('milestone', 'milestones', 'milestone.created'),
  pipelineEvents: newestOf('pipeline', 'CI pipelines', 'pipeline.created', ({ event }) => event === 'pipelineEvents'),
  jobEvents: jobSample,
  wikiPageEvents: wikiSample,
  noteEvents: newestOf('note', 'notes', 'note.created'),
  emojiEvents: async () => missing('notes'),
  releasesEvents: async () => missing('releases'),
  resourceAccessTokenEvents: tokenSample('access_token'),
  resourceDeployTokenEvents: tokenSample('deploy_token'),
}

/** Returns a payload made from the newest thing of the project. */
export async function sampleOf(caller: CallContext, project: Project, event: HookSwitchName): Promise<Sample> {
  const context = { ...caller, ...readContextOf(caller.core) }
  return (await samplers[event]?.(context, project)) ?? { missing: 'Testing not available for this hook' }
}

/** Returns the switch of an entry of the event log. */
export const hookSwitchOfTrigger = (trigger: string): HookSwitchName =>
  hookSwitchNames.find((name) => hookSwitches[name].trigger === trigger) ?? 'pushEvents'
