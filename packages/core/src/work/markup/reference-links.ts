import { DomainError } from '../../base/kit/domain-error.ts'
import type { MarkupLink, MarkupReference } from '../../base/model/markup.ts'
import type { ParentWithPath } from '../../base/model/parent.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { perform } from '../../base/operations/perform.ts'
import { findUsersByUsername } from '../../identity/users/user-store.ts'
import type { Issuable } from '../issues/issuable.ts'
import { listProjectIssues } from '../issues/issue-operations.ts'
import { listProjectMergeRequests } from '../merge-requests/merge-request-operations.ts'

/** The limit of the projects that one text refers to; references to further ones stay text. */
const MAX_PROJECTS = 50
const IIDS_PER_QUERY = 100
const MAX_USERS = 1_000

type IssuableReference = Extract<MarkupReference, { kind: 'issue' | 'merge_request' }>

interface IssuableKind {
  readonly segment: string
  readonly noun: string
  list(context: OperationContext, input: object): Promise<{ readonly items: readonly Issuable[] }>
}

const issuables: Readonly<Record<IssuableReference['kind'], IssuableKind>> = {
  issue: {
    segment: 'issues',
    noun: 'Issue',
    list: ({ core, actor }, input) => perform(core, actor, listProjectIssues, input),
  },
  merge_request: {
    segment: 'merge_requests',
    noun: 'Merge request',
    list: ({ core, actor }, input) => perform(core, actor, listProjectMergeRequests, input),
  },
}

/**
 * Returns the links of references in a text of a group or project, as far as the actor may see their targets. A project
 * without slashes is one of the same group.
 */
export async function linksOfReferences(
  context: OperationContext,
  home: ParentWithPath,
  references: readonly MarkupReference[],
): Promise<(MarkupLink | undefined)[]> {
  const issuableLinks = await linksOfIssuables(
    context,
    home,
    references.filter((each) => each.kind === 'issue' || each.kind === 'merge_request') as readonly IssuableReference[],
  )
  const users = await linksOfUsers(
    context,
    references.flatMap((each) => (each.kind === 'user' ? each.name : [])),
  )
  return references.map((reference) => {
    if (reference.kind === 'user') return users.get(reference.name.toLowerCase())
    if (reference.kind === 'label') return undefined
    const project = projectOf(home, reference)
    return project === undefined ? undefined : issuableLinks.get(keyOf(reference.kind, project, reference.iid))
  })
}

/** Returns the path of the project of a reference; `undefined` if a group is no context for it. */
function projectOf({ kind, fullPath }: ParentWithPath, { project }: IssuableReference): string | undefined {
  if (project === undefined) return kind === 'project' ? fullPath : undefined
  if (project.includes('/')) return project
  return kind === 'project' ? `${fullPath.slice(0, fullPath.lastIndexOf('/'))}/${project}` : `${fullPath}/${project}`
}

const keyOf = (kind: IssuableReference['kind'], project: string, iid: number): string =>
  `${kind} ${project.toLowerCase()} ${iid}`

async function linksOfIssuables(
  context: OperationContext,
  home: ParentWithPath,
  references: readonly IssuableReference[],
): Promise<ReadonlyMap<string, MarkupLink>> {
  const iidsOf = new Map<string, { kind: IssuableReference['kind']; project: string; iids: number[] }>()
  for (const reference of references) {
    const project = projectOf(home, reference)
    if (project === undefined) continue
    const key = keyOf(reference.kind, project, 0)
    const list = iidsOf.get(key) ?? { kind: reference.kind, project, iids: [] }
    list.iids.push(reference.iid)
    iidsOf.set(key, list)
  }
  const links = new Map<string, MarkupLink>()
  for (const { kind, project, iids } of [...iidsOf.values()].slice(0, MAX_PROJECTS))
    for (let at = 0; at < iids.length; at += IIDS_PER_QUERY)
      for (const [iid, link] of await linksIn(context, kind, project, iids.slice(at, at + IIDS_PER_QUERY)))
        links.set(keyOf(kind, project, iid), link)
  return links
}

/** Returns the links by iid; none in a project that the actor may not see. */
async function linksIn(
  context: OperationContext,
  kind: IssuableReference['kind'],
  project: string,
  iids: readonly number[],
): Promise<[number, MarkupLink][]> {
  const { list, segment, noun } = issuables[kind]
  try {
    const { items } = await list(context, { project, iids, perPage: IIDS_PER_QUERY })
    const { externalUrl } = context.core.settings
    return items.map(({ iid, title, projectPath }) => [
      iid,
      { href: `${externalUrl}/${projectPath}/-/${segment}/${iid}`, title: `${noun}: ${title}` },
    ])
  } catch (error) {
    const code = error instanceof DomainError ? error.failure.code : undefined
    if (code === 'not_found' || code === 'forbidden') return []
    throw error
  }
}

/** Returns the links by the names in lower case. */
async function linksOfUsers(
  { core }: OperationContext,
  names: readonly string[],
): Promise<ReadonlyMap<string, MarkupLink>> {
  const users = await findUsersByUsername(readContextOf(core), names.slice(0, MAX_USERS))
  return new Map(
    users.map(({ username, name }) => [
      username.toLowerCase(),
      { href: `${core.settings.externalUrl}/${username}`, title: name },
    ]),
  )
}
