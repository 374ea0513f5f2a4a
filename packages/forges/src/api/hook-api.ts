import type { JsonObject } from '../body/fields.ts'
import type { ApiAnswer, ApiRequest } from './rest-api.ts'

/** A project, or a group or organization with all its projects. */
export interface HookOwner {
  readonly kind: 'project' | 'group'
  readonly name: string
}

/** The webhook to install. */
export interface WantedHook {
  readonly url: string
  readonly secret: string
}

/** How webhooks are installed with the REST API of a forge. */
export interface HookApi {
  /** Returns the path of the project or group. Its answer shows whether the token may read it. */
  readonly ownerPath: (owner: HookOwner) => string
  /** Returns the path of the list of webhooks, which new ones are sent to. */
  readonly hooksPath: (owner: HookOwner) => string
  /** The query for the largest page of a list. */
  readonly pageSize: ApiRequest['query']
  /** Returns the URL that a listed webhook sends to. */
  readonly hookUrl: (hook: JsonObject) => string | undefined
  readonly create: (wanted: WantedHook) => JsonObject
  /** Returns the change after which a webhook is as `create` makes it. It is sent with `updateMethod` to the path of the webhook. */
  readonly update: (wanted: WantedHook) => JsonObject
  readonly updateMethod: 'PATCH' | 'PUT'
  /** The path of an answer that tells the scopes of the token; absent if the answer about the owner does. */
  readonly scopesPath?: string
  /** Returns the scopes of the token; `undefined` if the forge does not tell them. */
  readonly readScopes: (answer: ApiAnswer) => readonly string[] | undefined
  /** The scopes of which one is enough to install a webhook. */
  readonly sufficientScopes: Readonly<Record<HookOwner['kind'], readonly string[]>>
  /** Returns whether the token may administer the owner; `undefined` if the answer about the owner does not tell. */
  readonly mayInstall: (owner: JsonObject) => boolean | undefined
  /** Returns the list of a group's projects. */
  readonly projects: (group: string) => ApiRequest
  /** Returns the name of a listed project, as a backfill takes it. */
  readonly projectName: (project: JsonObject) => string | undefined
}
