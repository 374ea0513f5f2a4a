import {
  type AccessLevel,
  createGroupToken,
  createImpersonationToken,
  createJobToken,
  createPersonalToken,
  createProjectToken,
  csrfTokenOf,
  type Group,
  getUser,
  grantToken,
  type InputSchema,
  type IssuedAccessToken,
  type Operation,
  type Project,
  revokeJobToken,
  revokePersonalToken,
  signIn,
  type User,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { type Caller, type Credential, isRead, parentKind, type Visibility } from './http-matrix-columns.ts'
import { leastLevel, type MatrixRow } from './http-matrix-row.ts'

export type Parent = Group | Project
/** The headers of one request. */
export type Headers = Record<string, string>

const memberLevels = [5, 10, 15, 20, 25, 30, 40, 50] as const
const password = 'correct horse'
/** A hash of the password with cheap parameters. */
const passwordHash = '$argon2id$v=19$m=1024,p=1,t=2$QUFBQUFBQUFBQUFBQUFBQQ$LthcQ44d3/9Q12bbVUAELoSTNWs0q1Rcx7tFAjyV5hU'

/**
 * Serves the REST API over a socket, and has users to call it. Users with a role have it in one public group, `ops`.
 * All requested groups and projects are below it and inherit the role, whether they are public or not.
 */
export class MatrixServer {
  readonly world: World
  readonly root: User
  readonly stranger: User
  readonly #blocked: User
  readonly #ops: Group
  readonly #byLevel: ReadonlyMap<number, User>
  readonly #listening: Listening
  readonly #credentials = new Map<string, Promise<Headers>>()
  readonly #shared = new Map<string, Promise<Parent>>()
  /** The user ids of bots, by the value of their token. */
  readonly #botIds = new Map<string, number>()
  #names = 0

  static async open(): Promise<MatrixServer> {
    const world = await World.open()
    const root = await world.user('root', { isAdministrator: true })
    const stranger = await world.user('stranger')
    const blocked = await world.user('blocked')
    const ops = await world.group('ops', { visibility: 'public' })
    const byLevel = new Map<number, User>()
    for (const level of memberLevels) {
      const user = await world.user(`level${level}`)
      byLevel.set(level, user)
      await world.member(ops, user, level)
    }
    await world.core.db.write((db) => db.updateTable('users').set({ password_hash: passwordHash }).execute())
    const app = restListener({ core: world.core, areas, log: silentLog, rateLimits: 'off' })
    const listening = await listen(app, { host: '127.0.0.1', port: 0 })
    return new MatrixServer(world, listening, { root, stranger, blocked, ops, byLevel })
  }

  private constructor(
    world: World,
    listening: Listening,
    users: { root: User; stranger: User; blocked: User; ops: Group; byLevel: ReadonlyMap<number, User> },
  ) {
    this.world = world
    this.#listening = listening
    this.root = users.root
    this.stranger = users.stranger
    this.#blocked = users.blocked
    this.#ops = users.ops
    this.#byLevel = users.byLevel
  }

  fetch(path: string, init: RequestInit): Promise<Response> {
    return fetch(`${this.#listening.url}/api/v4${path}`, { redirect: 'manual', ...init })
  }

  /** Returns a name that was not used before. */
  word(stem: string): string {
    this.#names += 1
    return `${stem}-${this.#names}`
  }

  createUser(): Promise<User> {
    return this.world.user(this.word('someone'))
  }

  /** Creates an empty group or project below `ops`. Private ones have `hidden` in their names. */
  create(kind: Parent['kind'], visibility: Visibility, parent: Group = this.#ops): Promise<Parent> {
    const path = this.word(visibility === 'private' ? 'hidden' : visibility)
    return kind === 'group'
      ? this.world.group(path, { parent, visibility })
      : this.world.project(path, parent, visibility)
  }

  /** Returns the group or project that all requests share that change nothing. */
  shared(kind: Parent['kind'], visibility: Visibility): Promise<Parent> {
    const key = `${kind} ${visibility}`
    const parent = this.#shared.get(key) ?? this.create(kind, visibility)
    this.#shared.set(key, parent)
    return parent
  }

  /** Returns the user for a caller, or `undefined` for anonymous requests. */
  userOf(row: MatrixRow, caller: Caller): User | undefined {
    if (caller === 'anonymous') return undefined
    if (caller === 'administrator') return this.root
    const level = leastLevel(row)
    if (caller === 'stranger') return this.stranger
    if (caller === 'below') return this.#byLevel.get(memberLevels[memberLevels.indexOf(level as 5) - 1]!)
    if (level !== undefined) return this.#byLevel.get(level)
    return row.may === 'administrators' ? this.root : this.stranger
  }

  /**
   * Returns the headers of a request. Rows share tokens where possible, because creating them takes time.
   *
   * @param parent the requested group or project, if the row has one
   */
  async headersOf(
    row: MatrixRow,
    caller: Caller,
    credential: Credential,
    parent: Parent | undefined,
  ): Promise<Headers> {
    const isBotOfParent =
      (credential.type === 'group token' && parent?.kind === 'group') ||
      (credential.type === 'project token' && parent?.kind === 'project') ||
      credential.type.endsWith('job')
    const user = this.userOf(row, caller === 'anonymous' ? 'least' : caller)!
    const level = (leastLevel(row) ?? 30) as AccessLevel
    const place = isBotOfParent ? `${parent?.kind} ${parent?.id}` : ''
    const key = JSON.stringify([credential.type, credential.scope, user.id, level, place])
    const known = row.endsCredential ? undefined : this.#credentials.get(key)
    const headers = known ?? this.#credential(credential, user, level, parent)
    if (!row.endsCredential) this.#credentials.set(key, headers)
    return { ...(await headers), ...this.#sudo(row, credential) }
  }

  #sudo(row: MatrixRow, { sudo }: Credential): Headers {
    if (sudo === undefined) return {}
    return { Sudo: sudo === 'ghost' ? 'ghost' : this.userOf(row, sudo)!.username }
  }

  async #credential(
    { type, scope = 'api' }: Credential,
    user: User,
    level: AccessLevel,
    parent?: Parent,
  ): Promise<Headers> {
    const { core } = this.world
    const person = scope === 'sudo' ? this.root : user
    switch (type) {
      case 'nothing':
        return {}
      case 'personal':
        return asToken(await this.personalToken(person, [scope]))
      case 'impersonation':
        return asToken(await this.#asRoot(createImpersonationToken, { userId: user.id, name: 'i', scopes: [scope] }))
      case 'OAuth': {
        const request = { grantType: 'password', username: user.username, password, scope, address: '::1' }
        return { Authorization: `Bearer ${(await grantToken(core, request)).accessToken}` }
      }
      case 'group token': {
        const group = parent?.kind === 'group' ? parent : this.#ops
        const draft = { group: group.id, name: 'bot', scopes: [scope], accessLevel: level }
        return this.#asBot(await this.#asRoot(createGroupToken, draft))
      }
      case 'project token': {
        const project = parent?.kind === 'project' ? parent : await this.shared('project', 'private')
        const draft = { project: project.id, name: 'bot', scopes: [scope], accessLevel: level }
        return this.#asBot(await this.#asRoot(createProjectToken, draft))
      }
      case 'token of another project': {
        const elsewhere = await this.world.group(this.word('elsewhere'), { visibility: 'internal' })
        const project = await this.world.project('other', elsewhere, 'internal')
        const draft = { project: project.id, name: 'bot', scopes: [scope], accessLevel: 50 }
        return this.#asBot(await this.#asRoot(createProjectToken, draft))
      }
      case 'job':
      case 'ended job': {
        const project = parent?.kind === 'project' ? parent : await this.shared('project', 'private')
        const { id, value } = await this.#asRoot(createJobToken, { project: project.id, userId: user.id })
        if (type === 'ended job') await this.#asRoot(revokeJobToken, { id })
        return { 'JOB-TOKEN': value }
      }
      case 'deploy token header':
        return { 'Deploy-Token': 'gldt-0123456789abcdefghij' }
      case 'deploy token':
        return { 'PRIVATE-TOKEN': 'gldt-0123456789abcdefghij' }
      case 'unknown':
        return { 'PRIVATE-TOKEN': 'svcpat-0000000000000000000000000000000000000000000' }
      case 'revoked': {
        const token = await this.personalToken(user, [scope])
        await this.#asRoot(revokePersonalToken, { id: token.id })
        return asToken(token)
      }
      case 'blocked':
        return asToken(await this.#tokenOfBlocked())
      case 'session':
      case 'session with CSRF token': {
        const outcome = await signIn(core, { login: user.username, password, address: '::1' }, undefined)
        if (outcome.kind !== 'signed_in') throw new Error(outcome.kind)
        const cookie = { Cookie: `_svc_session=${outcome.sessionSecret}` }
        return type === 'session' ? cookie : { ...cookie, 'X-CSRF-Token': csrfTokenOf(outcome.sessionSecret) }
      }
    }
  }

  #asBot(token: IssuedAccessToken): Headers {
    this.#botIds.set(token.value, token.userId)
    return asToken(token)
  }

  personalToken(user: User, scopes: readonly string[]): Promise<IssuedAccessToken> {
    return this.#asRoot(createPersonalToken, { userId: user.id, name: 'p', scopes })
  }

  async #tokenOfBlocked(): Promise<IssuedAccessToken> {
    const token = await this.personalToken(this.#blocked, ['api'])
    await this.world.core.db.write((db) =>
      db.updateTable('users').set({ state: 'blocked' }).where('id', '=', this.#blocked.id).execute(),
    )
    return token
  }

  #asRoot<Input extends InputSchema, Result>(operation: Operation<Input, Result>, input: unknown): Promise<Result> {
    return this.world.perform(this.root, operation, input)
  }

  /** Returns the bot user of a project or group token. */
  async botBehind(headers: Headers): Promise<User | undefined> {
    const userId = this.#botIds.get(headers['PRIVATE-TOKEN'] ?? '')
    return userId === undefined ? undefined : getUser(this.#reading(), userId)
  }

  #reading() {
    return { db: this.world.core.db.read, nowMs: this.world.clock.nowMs() }
  }

  /** Counts the events so far: every change records one. */
  async changes(): Promise<number> {
    const { count } = await this.world.core.db.read
      .selectFrom('events')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  async close(): Promise<void> {
    await this.#listening.close(AbortSignal.abort())
    await this.world.close()
  }
}

const asToken = ({ value }: { readonly value: string }): Headers => ({ 'PRIVATE-TOKEN': value })

/** Returns the group or project to request: a new one for requests that change something. */
export function requestedParent(
  server: MatrixServer,
  row: MatrixRow,
  visibility: Visibility,
): Promise<Parent | undefined> {
  const kind = parentKind(row)
  if (kind === undefined) return Promise.resolve(undefined)
  return isRead(row) ? server.shared(kind, visibility) : server.create(kind, visibility)
}
