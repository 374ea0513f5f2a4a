import {
  type Core,
  type HookSwitchName,
  type Project,
  readChangedPaths,
  readHookCommit,
  readHookTag,
  readHookWikiPage,
} from '@penstock/core'
import { commitJson, type Json, NO_SHA } from '../payloads/shared-objects.ts'

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
  mergeRequestsEvents: async (core, project, payload) => {
    const attributes = payload.object_attributes as Json & { readonly last_commit: { readonly id: string } | null }
    const { last_commit: last } = attributes
    const commit = last === null ? undefined : await readHookCommit(core, project, last.id)
    const last_commit = commit === undefined ? last : commitJson(commit, project, core.settings.externalUrl)
    return { ...payload, object_attributes: { ...attributes, last_commit } }
  },
  wikiPageEvents: async (core, project, payload) => {
    const attributes = payload.object_attributes as Json
    const at = { slug: String(attributes.slug), version: String(attributes.version_id) }
    const { content, commit } = await readHookWikiPage(core, project, at)
    const read = { content: content ?? '', message: commit?.message.trimEnd() ?? '' }
    return { ...payload, object_attributes: { ...attributes, ...read } }
  },
}

/** Returns a payload with the parts that are read from a repository. */
export const completePayload = (core: Core, project: Project, event: HookSwitchName, payload: Json): Promise<Json> =>
  completions[event]?.(core, project, payload) ?? Promise.resolve(payload)
