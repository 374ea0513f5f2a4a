import {
  type Changes,
  findOpenMergeRequests,
  findPipelineIdOf,
  findUser,
  findUsers,
  flagById,
  type HookSwitchName,
  type Project,
  type ProjectFacts,
  readAwardFacts,
  readDeploymentFacts,
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
import { deploymentPayload, reportedStatuses } from '../payloads/deployment.ts'
import { type EmojiFacts, emojiPayload } from '../payloads/emoji.ts'
import { expiringDeployTokenPayload, expiringTokenPayload } from '../payloads/expiring-token.ts'
import { featureFlagPayload } from '../payloads/feature-flag.ts'
import { type IssueFacts, issuePayload } from '../payloads/issue.ts'
import { jobPayload } from '../payloads/job.ts'
import { type MergeRequestAction, type MergeRequestFacts, mergeRequestPayload } from '../payloads/merge-request.ts'
import { type MilestoneFacts, milestonePayload } from '../payloads/milestone.ts'
import { isConfidential, type NoteEventFacts, notePayload } from '../payloads/note.ts'
import { pipelinePayload } from '../payloads/pipeline.ts'
import { pushPayload, repositoryUpdatePayload } from '../payloads/push.ts'
import { type ReleaseEventFacts, releasePayload } from '../payloads/release.ts'
import type { Json } from '../payloads/shared-objects.ts'
import { type WikiPageFacts, wikiPagePayload } from '../payloads/wiki-page.ts'
import type { EventContext, EventSource, HookEvent, ProjectEvent } from './hook-event.ts'

/** The limit of job events that one record of a pipeline causes. */
const MAX_JOB_EVENTS = 1_000

const none: { readonly changes: Changes } = { changes: {} }

/** The events of the core that hooks get, by type. */
export const eventSources = {
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
  'merge_request.approved': approvalSource({ complete: 'approved', partial: 'approval' }),
  'merge_request.unapproved': approvalSource({ complete: 'unapproved', partial: 'unapproval' }),
  'note.created': noteSource('create'),
  'note.updated': noteSource('update'),
  'award_emoji.created': emojiSource('award'),
  'award_emoji.removed': emojiSource('revoke'),
  'release.created': releaseSource('create'),
  'release.updated': releaseSource('update'),
  'release.removed': releaseSource('delete'),
  'access_token.expiring': expiringTokenSource('resourceAccessTokenEvents', expiringTokenPayload),
  'deploy_token.expiring': expiringTokenSource('resourceDeployTokenEvents', expiringDeployTokenPayload),
  'milestone.created': milestoneSource('create'),
  'milestone.closed': milestoneSource('close'),
  'milestone.reopened': milestoneSource('reopen'),
  'milestone.removed': milestoneSource('delete'),
  'pipeline.created': { switches: ['pipelineEvents', 'jobEvents'], eventsOf: pipelineEvents },
  'pipeline.updated': { switches: ['pipelineEvents', 'jobEvents'], eventsOf: pipelineEvents },
  'deployment.created': { switches: ['deploymentEvents'], eventsOf: deploymentEvents },
  'deployment.updated': { switches: ['deploymentEvents'], eventsOf: deploymentEvents },
  'feature_flag.updated': { switches: ['featureFlagEvents'], eventsOf: featureFlagEvents },
  'wiki_page.created': wikiPageSource('create'),
  'wiki_page.updated': wikiPageSource('update'),
  'wiki_page.removed': wikiPageSource('delete'),
} as const satisfies Readonly<Record<ProjectEvent['type'], EventSource>>

export type HookedEventType = keyof typeof eventSources

export const isHooked = (type: ProjectEvent['type']): type is HookedEventType => Object.hasOwn(eventSources, type)

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
      const { iid, reRequestedId } = event.details ?? {}
      const payload = await mergeRequestEventPayload(context, event, Number(iid), {
        action,
        reRequestedId: reRequestedId as number | undefined,
        changes,
        projectId,
      })
      return [{ event: 'mergeRequestsEvents', payload }]
    },
  }
}

/**
 * The action is `complete` if the merge request has all required approvals after an approval, or had them before one was removed.
 */
function approvalSource(actions: Readonly<Record<'complete' | 'partial', MergeRequestAction>>): EventSource {
  return {
    switches: ['mergeRequestsEvents'],
    async eventsOf(context, event) {
      const { projectId, changes = none.changes } = event
      const { project } = await readProjectFacts(context, projectId)
      const { previous, current } = changes.approvedByIds ?? {}
      const most = Math.max(...[previous, current].map((ids) => ((ids ?? []) as readonly number[]).length))
      const action = actions[most >= project.settings.approvalsBeforeMerge ? 'complete' : 'partial']
      const change = { action, changes, projectId }
      const payload = await mergeRequestEventPayload(context, event, Number(event.details?.iid), change)
      return [{ event: 'mergeRequestsEvents', payload }]
    },
  }
}

interface MergeRequestChange extends Pick<MergeRequestFacts, 'action' | 'changes' | 'formerSha' | 'reRequestedId'> {
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
      const { objectId: id, changes = none.changes } = event
      const milestone = await readMilestoneFacts(context, facts.project, { id, changes })
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

async function deploymentEvents(context: EventContext, event: ProjectEvent): Promise<HookEvent[]> {
  const { projectId, objectId, changes = none.changes } = event
  if (!reportedStatuses.includes(changes.status?.current)) return []
  const facts = await readProjectFacts(context, projectId)
  const found = await readDeploymentFacts(context, objectId)
  const payload = deploymentPayload({ facts, ...found, atMs: context.nowMs }, context.core.settings.externalUrl)
  return [{ event: 'deploymentEvents', payload }]
}

/** Returns an event if the change switches the flag on or off. */
async function featureFlagEvents(context: EventContext, event: ProjectEvent): Promise<HookEvent[]> {
  const flag = event.changes?.active === undefined ? undefined : await flagById(context, event.objectId)
  if (flag === undefined) return []
  const facts = await readProjectFacts(context, event.projectId)
  const user = await actorOf(context, event)
  return [
    {
      event: 'featureFlagEvents',
      payload: featureFlagPayload({ facts, user, flag }, context.core.settings.externalUrl),
    },
  ]
}

function wikiPageSource(action: WikiPageFacts['action']): EventSource {
  return {
    switches: ['wikiPageEvents'],
    async eventsOf(context, event) {
      const facts = await readProjectFacts(context, event.projectId)
      const user = await actorOf(context, event)
      const page = event.details as WikiPageFacts['page']
      const payload = wikiPagePayload({ facts, user, page, action }, context.core.settings.externalUrl)
      return [{ event: 'wikiPageEvents', payload }]
    },
  }
}

/** The details of the event are the members of the token, except its id. */
function expiringTokenSource<Token extends { readonly id: number }>(
  name: HookSwitchName,
  payloadOf: (facts: ProjectFacts, token: Token, externalUrl: string) => Json,
): EventSource {
  return {
    switches: [name],
    async eventsOf(context, { projectId, objectId, details }) {
      const facts = await readProjectFacts(context, projectId)
      // Each token's listener writes these details, which the event carries as JSON of any form.
      const token = { ...details, id: objectId } as Token
      return [{ event: name, payload: payloadOf(facts, token, context.core.settings.externalUrl) }]
    },
  }
}

const actorOf = async (context: EventContext, { actorId }: Pick<ProjectEvent, 'actorId'>) =>
  actorId === undefined ? undefined : findUser(context, actorId)

/** Returns whether an update is followed by an event of its own for the new state, which has the other changes too. */
const isReportedAgain = (action: string, changes: Changes): boolean =>
  action === 'update' && changes.state !== undefined

async function namedThings(context: EventContext, project: Project, changes: Changes): Promise<NamedThings> {
  const { labels, users } = namedIn(changes)
  return { labels: await readLabelFacts(context, project, labels), users: await findUsers(context, users) }
}
