import {
  type Core,
  getProject,
  type HookSwitchName,
  type Project,
  readChangedPaths,
  readContextOf,
  readHookCommit,
  readHookTag,
  readHookWikiPage,
  readNotedDiff,
  readSnippetContent,
  titleOf,
} from '@penstock/core'
import { notedDiffJson } from '../payloads/note-position.ts'
import { commitJson, type Json, NO_SHA, REDACTED, withImageUrls } from '../payloads/shared-objects.ts'

type Completion = (core: Core, project: Project, payload: Json) => Promise<Json>

/**
 * The parts of payloads that are read from a repository. They are read when the payload is sent, because a transaction must
 * not wait for them; commits do not change in between.
 */
const completions: Readonly<Partial<Record<HookSwitchName, Completion>>> = {
  pushEvents: async (core, project, payload) => {
    const commits = payload.commits as readonly Json[]
    const oids = commits.map(({ id }) => String(id))
    const paths = await readChangedPaths(core, project, oids)
    return { ...payload, commits: commits.map((commit, index) => ({ ...commit, ...paths[index] })) }
  },
  tagPushEvents: async (core, project, payload) => {
    if (payload.after === NO_SHA) return payload
    const { commit, message } = await readHookTag(core, project, String(payload.after))
    return { ...payload, checkout_sha: commit ?? null, message: message ?? null }
  },
  mergeRequestsEvents: async (core, project, payload) => ({
    ...payload,
    object_attributes: await withLastCommit(core, project, payload.object_attributes as Json),
  }),
  pipelineEvents: async (core, project, payload) => {
    const { sha } = payload.object_attributes as { readonly sha: string | null }
    const commit = sha === null ? undefined : await readHookCommit(core, project, sha)
    if (commit === undefined) return payload
    const stored = commitJson(commit, project, core.settings.externalUrl)
    const recorded = known((payload.commit ?? {}) as Json)
    const author = { ...stored.author, ...known((recorded.author ?? {}) as Json) }
    return { ...payload, commit: { ...stored, ...recorded, author } }
  },
  jobEvents: async (core, project, payload) => {
    const commit = payload.sha === null ? undefined : await readHookCommit(core, project, String(payload.sha))
    if (commit === undefined) return payload
    const { author, message } = commit
    const stored = { message, author_name: author.name, author_email: author.email }
    return { ...payload, commit: { ...(payload.commit as Json), ...stored, ...known(payload.commit as Json) } }
  },
  releasesEvents: async (core, project, payload) => {
    const { id } = payload.commit as { readonly id: string }
    const commit = await readHookCommit(core, project, id)
    return commit === undefined
      ? payload
      : { ...payload, commit: commitJson(commit, project, core.settings.externalUrl) }
  },
  deploymentEvents: async (core, project, payload) => {
    if (payload.commit_title !== null || payload.commit_url === null) return payload
    const sha = String(payload.commit_url).split('/').at(-1)!
    const commit = await readHookCommit(core, project, sha)
    return { ...payload, commit_title: commit === undefined ? null : titleOf(commit.message) }
  },
  emojiEvents: async (core, project, payload) => {
    const complete = await completeNote(core, project, payload)
    // Clients of GitLab read the snippet of a reaction, other than that of a comment, by this name.
    return complete.snippet === undefined ? complete : { ...complete, project_snippet: complete.snippet }
  },
  noteEvents: completeNote,
  confidentialNoteEvents: completeNote,
  wikiPageEvents: async (core, project, payload) => {
    const attributes = payload.object_attributes as Json
    const at = { slug: String(attributes.slug), version: String(attributes.version_id) }
    const { content, commit } = await readHookWikiPage(core, project, at)
    const text = withImageUrls(content ?? '', project.fullPath, core.settings.externalUrl)
    const read = { content: text, message: commit?.message.trimEnd() ?? '' }
    return { ...payload, object_attributes: { ...attributes, ...read } }
  },
}

/** Returns the members that have a value: a record may leave some out, and has no addresses. */
const known = (json: Json): Json =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null && value !== '' && value !== REDACTED))

/** Returns the attributes of a note with the diff that it is about. */
async function withNotedDiff(core: Core, project: Project, note: Json): Promise<Json> {
  const position = note.position as Json | null | undefined
  if (position?.position_type !== 'text') return note
  const noted = await readNotedDiff(core, project, {
    baseSha: String(position.base_sha),
    headSha: String(position.head_sha),
    oldPath: position.old_path as string | undefined,
    newPath: position.new_path as string | undefined,
    oldLine: position.old_line as number | null,
    newLine: position.new_line as number | null,
  })
  return noted === undefined ? note : { ...note, line_code: noted.lineCode ?? null, st_diff: notedDiffJson(noted) }
}

async function completeNote(core: Core, project: Project, given: Json): Promise<Json> {
  // If the payload is about a reaction to a note, the note is in `note`, beside the attributes of the reaction.
  const name = given.note === undefined ? 'object_attributes' : 'note'
  const payload = { ...given, [name]: await withNotedDiff(core, project, given[name] as Json) }

  const { commit: noted, snippet, merge_request: mergeRequest } = payload as Readonly<Record<string, Json | undefined>>
  if (noted !== undefined) {
    const commit = await readHookCommit(core, project, String(noted.id))
    return commit === undefined
      ? payload
      : { ...payload, commit: commitJson(commit, project, core.settings.externalUrl) }
  }
  if (mergeRequest !== undefined)
    return { ...payload, merge_request: await withLastCommit(core, project, mergeRequest) }
  if (snippet === undefined || snippet.file_name === '') return payload
  const content = await readSnippetContent(core, Number(snippet.id), String(snippet.file_name))
  return { ...payload, snippet: { ...snippet, content } }
}

async function withLastCommit(core: Core, project: Project, attributes: Json): Promise<Json> {
  const last = attributes.last_commit as { readonly id: string } | null
  const commit = last === null ? undefined : await readHookCommit(core, project, last.id)
  return commit === undefined
    ? attributes
    : { ...attributes, last_commit: commitJson(commit, project, core.settings.externalUrl) }
}

/** Returns a payload with the parts that are read from a repository of the project. */
export async function completePayload(
  core: Core,
  projectId: number,
  event: HookSwitchName,
  payload: Json,
): Promise<Json> {
  const complete = completions[event]
  return complete === undefined ? payload : complete(core, await getProject(readContextOf(core), projectId), payload)
}
