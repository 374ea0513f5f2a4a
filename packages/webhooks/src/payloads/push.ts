import type { ProjectFacts, PushedReference, User } from '@penstock/core'
import {
  clonedRepositoryJson,
  commitJson,
  type HookCommit,
  type Json,
  NO_SHA,
  projectJson,
  userAvatar,
} from './shared-objects.ts'

interface PushFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly push: Pick<PushedReference, 'ref' | 'before' | 'after' | 'total'> & {
    readonly commits: readonly HookCommit[]
  }
}

/**
 * Returns the payload of a push to a branch or tag. The paths that its commits change, and the target of a tag, are added
 * when it is sent.
 */
export function pushPayload({ facts, user, push }: PushFacts, externalUrl: string): Json {
  const { ref, before, after, commits, total } = push
  const kind = ref.startsWith('refs/tags/') ? 'tag_push' : 'push'
  return {
    object_kind: kind,
    event_name: kind,
    before: before ?? NO_SHA,
    after: after ?? NO_SHA,
    ref,
    ref_protected: false,
    checkout_sha: after ?? null,
    message: null,
    ...pusherJson(user, externalUrl),
    project_id: facts.project.id,
    project: projectJson(facts, externalUrl),
    commits: commits.map((commit) => ({
      ...commitJson(commit, facts.project, externalUrl),
      added: [],
      modified: [],
      removed: [],
    })),
    total_commits_count: total,
    push_options: {},
    repository: clonedRepositoryJson(facts, externalUrl),
  }
}

/** Returns the payload of a change of the repository, whatever changed in it. */
export const repositoryUpdatePayload = ({ facts, user, push }: PushFacts, externalUrl: string): Json => {
  const { user_username: _, ...pusher } = pusherJson(user, externalUrl)
  const { ref, before, after } = push
  return {
    event_name: 'repository_update',
    ...pusher,
    project_id: facts.project.id,
    project: projectJson(facts, externalUrl),
    changes: [{ before: before ?? NO_SHA, after: after ?? NO_SHA, ref }],
    refs: [ref],
  }
}

const pusherJson = (user: User | undefined, externalUrl: string) => ({
  user_id: user?.id ?? null,
  user_name: user?.name ?? '',
  user_username: user?.username ?? '',
  user_email: user?.publicEmail ?? '',
  user_avatar: (user && userAvatar(user, externalUrl)) ?? '',
})
