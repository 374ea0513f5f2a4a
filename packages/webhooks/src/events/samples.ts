import {
  type CallContext,
  findNewest,
  findNewestReleaseTag,
  findUser,
  type HookSwitchName,
  hookSwitches,
  hookSwitchNames,
  type Project,
  readContextOf,
  readFirstWikiPage,
  readNewestCommits,
  readNoteFacts,
  readPipelineFacts,
  readProjectFacts,
  readReleaseFacts,
  type SampleKind,
} from '@penstock/core'
import { emojiPayload } from '../payloads/emoji.ts'
import { expiringDeployTokenPayload, expiringTokenPayload } from '../payloads/expiring-token.ts'
import { jobPayload } from '../payloads/job.ts'
import { pushPayload } from '../payloads/push.ts'
import { releasePayload } from '../payloads/release.ts'
import { type Json, NO_SHA } from '../payloads/shared-objects.ts'
import { wikiPagePayload } from '../payloads/wiki-page.ts'
import { eventSources, type HookedEventType } from './event-sources.ts'
import type { EventContext, HookEvent, ProjectEvent } from './hook-event.ts'

/** The payload of a test call, or the message that the project has nothing to show. */
export type Sample = { readonly payload: Json } | { readonly missing: string }

type Sampler = (context: EventContext & CallContext, project: Project) => Promise<Sample>

const missing = (what: string): Sample => ({ missing: `Ensure the project has ${what}.` })

/** Returns a sampler that reports the newest thing of a kind as if it had just been created. */
const newestOf =
  (
    kind: SampleKind,
    what: string,
    type: HookedEventType,
    select: (event: HookEvent) => boolean = () => true,
  ): Sampler =>
  async (context, project) => {
    const number = await findNewest(context, project.id, kind)
    if (number === undefined) return missing(what)
    const event: ProjectEvent = {
      type,
      objectId: number,
      projectId: project.id,
      actorId: context.actor?.id,
      details: { iid: number },
      changes: kind === 'pipeline' ? { status: { previous: null, current: '' } } : {},
    }
    const events = await eventSources[type].eventsOf(context, event)
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

/** The first page of the wiki, as if it had just been created. */
const wikiSample: Sampler = async (context, project) => {
  const { core, actor } = context
  const page = await readFirstWikiPage(core, project)
  if (page === undefined) return { missing: 'Ensure the wiki is enabled and has pages.' }
  const facts = await readProjectFacts(context, project.id)
  const user = actor && (await findUser(context, actor.id))
  return { payload: wikiPagePayload({ facts, user, page, action: 'create' }, core.settings.externalUrl) }
}

/** The newest release, as if it had just been created. */
const releaseSample: Sampler = async (context, project) => {
  const tag = await findNewestReleaseTag(context, project.id)
  if (tag === undefined) return missing('releases')
  const facts = await readProjectFacts(context, project.id)
  const found = await readReleaseFacts(context, project, { tag, changes: {} })
  return { payload: releasePayload({ facts, ...found, action: 'create' }, context.core.settings.externalUrl) }
}

/** A reaction of the caller to the newest note. It is not stored. */
const emojiSample: Sampler = async (context, project) => {
  const noteId = await findNewest(context, project.id, 'note')
  if (noteId === undefined) return missing('notes')
  const { nowMs, actor } = context
  const [facts, noted] = [await readProjectFacts(context, project.id), await readNoteFacts(context, noteId)]
  const award = {
    id: 1,
    projectId: project.id,
    awardableType: 'note' as const,
    issueId: undefined,
    mergeRequestId: undefined,
    snippetId: undefined,
    noteId,
    userId: actor?.id,
    name: 'thumbsup',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  const user = actor && (await findUser(context, actor.id))
  return { payload: emojiPayload({ facts, user, award, ...noted, action: 'award' }, context.core.settings.externalUrl) }
}

const EXPIRY_MS = 2 * 86_400_000

/** An access token that does not exist and expires in two days. */
const accessTokenSample: Sampler = async (context, project) => {
  const { nowMs, actor } = context
  const token = {
    id: 1,
    userId: actor?.id ?? null,
    name: 'sample token',
    createdAtMs: nowMs,
    expiresAt: new Date(nowMs + EXPIRY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
    lastUsedAtMs: null,
  }
  const facts = await readProjectFacts(context, project.id)
  return { payload: expiringTokenPayload(facts, token, context.core.settings.externalUrl) }
}

/** A deploy token that does not exist and expires in two days. */
const deployTokenSample: Sampler = async (context, project) => {
  const { nowMs, core } = context
  const token = { id: 1, name: 'sample token', createdAtMs: nowMs, expiresAtMs: nowMs + EXPIRY_MS }
  const facts = await readProjectFacts(context, project.id)
  return { payload: expiringDeployTokenPayload(facts, token, core.settings.externalUrl) }
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
  emojiEvents: emojiSample,
  releasesEvents: releaseSample,
  resourceAccessTokenEvents: accessTokenSample,
  resourceDeployTokenEvents: deployTokenSample,
}

/** Returns a payload made from the newest thing of the project. */
export async function createSample(caller: CallContext, project: Project, event: HookSwitchName): Promise<Sample> {
  const context = { ...caller, ...readContextOf(caller.core) }
  return (await samplers[event]?.(context, project)) ?? { missing: 'Testing not available for this hook' }
}

/** Returns the switch of an entry of the event log. */
export const toHookSwitch = (trigger: string): HookSwitchName =>
  hookSwitchNames.find((name) => hookSwitches[name].trigger === trigger) ?? 'pushEvents'
