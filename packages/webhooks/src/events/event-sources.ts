import {
  type Changes,
  findOpenMergeRequests,
  findPipelineIdOf,
  findUser,
  findUsers,
  type Project,
  readAwardFacts,
  readIssueFacts,
  readLabelFacts,
  readMergeRequestFacts,
  readMilestoneFacts,
  readNoteFacts,
  readPipelineFacts,
  readProjectFacts,
  readReleaseFacts,
} from '@penstock/core'
import { type NamedThings, namedIn } from '../payloads/changed-values.ts'
import { type EmojiFacts, emojiPayload } from '../payloads/emoji.ts'
import { type ExpiringToken, expiringTokenPayload } from '../payloads/expiring-token.ts'
import { type IssueFacts, issuePayload } from '../payloads/issue.ts'
import { jobPayload } from '../payloads/job.ts'
import { type MergeRequestAction, type MergeRequestFacts, mergeRequestPayload } from '../payloads/merge-request.ts'
import { type MilestoneFacts, milestonePayload } from '../payloads/milestone.ts'
import { isConfidential, type NoteEventFacts, notePayload } from '../payloads/note.ts'
import { pipelinePayload } from '../payloads/pipeline.ts'
import { pushPayload, repositoryUpdatePayload } from '../payloads/push.ts'
import { type ReleaseEventFacts, releasePayload } from '../payloads/release.ts'
import { type WikiPageFacts, wikiPagePayload } from '../payloads/wiki-page.ts'
import type { EventContext, EventSource, HookEvent, ProjectEvent } from './hook-event.ts'

/** The limit of job events that one record of a pipeline causes. */
export const MAX_JOB_EVENTS = 1_000

const none: { readonly changes: Changes } = { changes: {} }

/** The events of the core that hooks get, by type. */
export const eventSources: Readonly<Record<string, EventSource>> = {
  'repository.pushed': {
    switches: ['pushEvents', 'tagPushEvents', 'repositoryUpdateEvents', 'mergeRequestsEvents'],
    eventsOf: pushEvents,
  },
  'issue.created': issueSource('open'),
  'issue.updated': issueSource('update'),
  'issue.closed': issueSource('close'),
  'issue.reopened': issueSource('reopen'),
  'merge_request.created': mergeRequestSource('open'),
  'merge_request.updated': mergeRequestSource('update'),
  'merge_request.closed': mergeRequestSource('close'),
  'merge_request.reopened': mergeRequestSource('reopen'),
  'merge_request.merged': mergeRequestSource('merge'),
  'note.created': noteSource('create'),
  'note.updated': noteSource('update'),
  'award_emoji.created': emojiSource('award'),
  'award_emoji.removed': emojiSource('revoke'),
  'release.created': releaseSource('create'),
  'release.updated': releaseSource('update'),
  'release.removed': releaseSource('delete'),
  'access_token.expiring': { switches: ['resourceAccessTokenEvents'], eventsOf: expiringTokenEvents },
  'milestone.created': milestoneSource('create'),
  'milestone.closed': milestoneSource('close'),
  'milestone.reopened': milestoneSource('reopen'),
  'pipeline.created': { switches: ['pipelineEvents', 'jobEvents'], eventsOf: pipelineEvents },
  'pipeline.updated': { switches: ['pipelineEvents', 'jobEvents'], eventsOf: pipelineEvents },
  'wiki_page.created': wikiPageSource('create'),
  'wiki_page.updated': wikiPageSource('update'),
  'wiki_page.removed': wikiPageSource('delete'),
}

async function pushEvents(context: EventContext, event: ProjectEvent): Promise<HookEvent[]> {
  const { push } = event
  if (push === undefined) return []
  const { externalUrl } = context.core.settings
  const pushed = { facts: await readProjectFacts(context, event.projectId), user: await actorOf(context, event), push }
  const branch = /^refs\/heads\/(.*)$/s.exec(push.ref)?.[1]
  const payload = pushPayload(pushed, externalUrl)
  const update = { event: 'repositoryUpdateEvents', payload: repositoryUpdatePayload(pushed, externalUrl) } as const
  if (branch === undefined) return [{ event: 'tagPushEvents', payload }, update]
  return [{ event: 'pushEvents', payload, branch }, update, ...(await pushedMergeRequests(context, event, branch))]
}

/** Returns an update for each open merge request that gets new commits by a push to its source branch. */
async function pushedMergeRequests(context: EventContext, event: ProjectEvent, branch: string): Promise<HookEvent[]> {
  const { projectId, push } = event
  if (push?.before === undefined || push.after === undefined) return []
  const events: HookEvent[] = []
  for (const iid of await findOpenMergeRequests(context, projectId, branch)) {
    const change = { action: 'update', changes: {}, projectId, formerSha: push.before } as const
    events.push({ event: 'mergeRequestsEvents', payload: await mergeRequestEventPayload(context, event, iid, change) })
  }
  return events
}

function issueSource(action: IssueFacts['action']): EventSource {
  return {
    switches: ['issuesEvents', 'confidentialIssuesEvents'],
    async eventsOf(context, event) {
      const { projectId, changes = none.changes } = event
      if (isReportedAgain(action, changes)) return []
      const { externalUrl } = context.core.settings
      const facts = await readProjectFacts(context, projectId)
      const issue = await readIssueFacts(context, event.objectId)
      const things = await namedThings(context, facts.project, changes)
      const user = await actorOf(context, event)
      const payload = issuePayload({ facts, user, issue, action, changes, things }, externalUrl)
      return [{ event: issue.isConfidential ? 'confidentialIssuesEvents' : 'issuesEvents', payload }]
    },
  }
}

function mergeRequestSource(action: MergeRequestAction): EventSource {
  return {
    switches: ['mergeRequestsEvents'],
    async eventsOf(context, event) {
      const { projectId, changes = none.changes } = event
      if (isReportedAgain(action, changes)) return []
      const payload = await mergeRequestEventPayload(context, event, Number(event.details?.iid), {
        action,
        changes,
        projectId,
      })
      return [{ event: 'mergeRequestsEvents', payload }]
    },
  }
}

interface MergeRequestChange extends Pick<MergeRequestFacts, 'action' | 'changes' | 'formerSha'> {
  readonly projectId: number
}

/** Returns the payload of a merge request that is found by its iid. */
async function mergeRequestEventPayload(
  context: EventContext,
  event: Pick<ProjectEvent, 'actorId'>,
  iid: number,
  { projectId, ...change }: MergeRequestChange,
) {
  const facts = await readProjectFacts(context, projectId)
  const mergeRequest = await readMergeRequestFacts(context, projectId, iid)
  const headPipelineId = await findPipelineIdOf(context, mergeRequest)
  const things = await namedThings(context, facts.project, change.changes)
  const user = await actorOf(context, event)
  return mergeRequestPayload(
    { facts, user, mergeRequest, headPipelineId, atMs: context.nowMs, things, ...change },
    context.core.settings.externalUrl,
  )
}

function noteSource(action: NoteEventFacts['action']): EventSource {
  return {
    switches: ['noteEvents', 'confidentialNoteEvents'],
    async eventsOf(context, event) {
      const facts = await readProjectFacts(context, event.projectId)
      const noted = await readNoteFacts(context, event.objectId)
      if (noted.note.isSystem) return []
      const user = await actorOf(context, event)
      const payload = notePayload({ facts, user, ...noted, action }, context.core.settings.externalUrl)
      return [{ event: isConfidential(noted) ? 'confidentialNoteEvents' : 'noteEvents', payload }]
    },
  }
}

function emojiSource(action: EmojiFacts['action']): EventSource {
  return {
    switches: ['emojiEvents'],
    async eventsOf(context, event) {
      const facts = await readProjectFacts(context, event.projectId)
      const award = await readAwardFacts(context, event.changes ?? {})
      const user = await actorOf(context, event)
      const payload = emojiPayload({ facts, user, ...award, action }, context.core.settings.externalUrl)
      return [{ event: 'emojiEvents', payload }]
    },
  }
}

function releaseSource(action: ReleaseEventFacts['action']): EventSource {
  return {
    switches: ['releasesEvents'],
    async eventsOf(context, { projectId, details, changes = none.changes }) {
      const facts = await readProjectFacts(context, projectId)
      const found = await readReleaseFacts(context, facts.project, { tag: String(details?.tag), changes })
      const payload = releasePayload({ facts, ...found, action }, context.core.settings.externalUrl)
      return [{ event: 'releasesEvents', payload }]
    },
  }
}

function milestoneSource(action: MilestoneFacts['action']): EventSource {
  return {
    switches: ['milestoneEvents'],
    async eventsOf(context, event) {
      const facts = await readProjectFacts(context, event.projectId)
      const milestone = await readMilestoneFacts(context, facts.project, event.objectId)
      const payload = milestonePayload({ facts, milestone, action }, context.core.settings.externalUrl)
      return [{ event: 'milestoneEvents', payload }]
    },
  }
}

/** Returns an event for a change of the pipeline's status, and one for each change of a job's status. Bridges have no events. */
async function pipelineEvents(context: EventContext, event: ProjectEvent): Promise<HookEvent[]> {
  const { projectId, objectId, changes = none.changes } = event
  const statuses = (changes.jobStatuses?.current ?? {}) as Readonly<Record<number, string>>
  const isChanged = changes.status !== undefined
  if (!isChanged && Object.keys(statuses).length === 0) return []
  const { externalUrl } = context.core.settings
  const facts = await readProjectFacts(context, projectId)
  const run = await readPipelineFacts(context, objectId)
  const changed = run.jobs.filter(({ id, isBridge }) => !isBridge && statuses[id] !== undefined)
  return [
    ...(isChanged ? [{ event: 'pipelineEvents', payload: pipelinePayload({ facts, run }, externalUrl) } as const] : []),
    ...changed
      .slice(0, MAX_JOB_EVENTS)
      .map((job) => ({ event: 'jobEvents', payload: jobPayload({ facts, run, job }, externalUrl) }) as const),
  ]
}

function wikiPageSource(action: WikiPageFacts['action']): EventSource {
  return {
    switches: ['wikiPageEvents'],
    async eventsOf(context, event) {
      const { slug, title, version } = event.details ?? {}
      const format = event.changes?.format
      const facts = await readProjectFacts(context, event.projectId)
      const page = {
        slug: String(slug),
        title: String(title),
        version: String(version),
        format: String(format?.current ?? format?.previous ?? 'markdown'),
      }
      const user = await actorOf(context, event)
      return [
        {
          event: 'wikiPageEvents',
          payload: wikiPagePayload({ facts, user, page, action }, context.core.settings.externalUrl),
        },
      ]
    },
  }
}

async function expiringTokenEvents(context: EventContext, event: ProjectEvent): Promise<HookEvent[]> {
  const facts = await readProjectFacts(context, event.projectId)
  const token = { ...(event.details as unknown as Omit<ExpiringToken, 'id'>), id: event.objectId }
  const payload = expiringTokenPayload(facts, token, context.core.settings.externalUrl)
  return [{ event: 'resourceAccessTokenEvents', payload }]
}

const actorOf = async (context: EventContext, { actorId }: Pick<ProjectEvent, 'actorId'>) =>
  actorId === undefined ? undefined : findUser(context, actorId)

/** Tells whether an update is followed by an event of its own for the new state, which has the other changes too. */
const isReportedAgain = (action: string, changes: Changes): boolean =>
  action === 'update' && changes.state !== undefined

async function namedThings(context: EventContext, project: Project, changes: Changes): Promise<NamedThings> {
  const { labels, users } = namedIn(changes)
  return { labels: await readLabelFacts(context, project, labels), users: await findUsers(context, users) }
}
