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
import { type Caller, isRead, kindOf, type Shown, type Visibility } from './http-matrix-columns.ts'
import { levelOf, type MatrixRow } from './http-matrix-row.ts'

export type Parent = Group | Project
/** Of one request. */
export type Headers = Record<string, string>

const memberLevels = [5, 10, 15, 20, 25, 30, 40, 50] as const
const password = 'correct horse'
/** Of that password; cheap. */
const passwordHash = '$argon2id$v=19$m=1024,p=1,t=2$QUFBQUFBQUFBQUFBQUFBQQ$LthcQ44d3/9Q12bbVUAELoSTNWs0q1Rcx7tFAjyV5hU'

/**
 * The REST API over a socket, and the people who ask. Those with a role have it in one public group, `ops`; whatever is
 * asked about lies below it and inherits the role, whether it is public itself or not.
 */
export class Stage {
  readonly world: World
  readonly root: User
  readonly stranger: User
  readonly #blocked: User
  readonly #ops: Group
  readonly #byLevel: ReadonlyMap<number, User>
  readonly #listening: Listening
  readonly #credentials = new Map<string, Promise<Headers>>()
  readonly #shared = new Map<string, Promise<Parent>>()
  /** By the value of the token. */
  readonly #botIds = new Map<string, number>()
  #made = 0

  static async open(): Promise<Stage> {
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
    return new Stage(world, listening, { root, stranger, blocked, ops, byLevel })
  }

  private constructor(
    world: World,
    listening: Listening,
    people: { root: User; stranger: User; blocked: User; ops: Group; byLevel: ReadonlyMap<number, User> },
  ) {
    this.world = world
    this.#listening = listening
    this.root = people.root
    this.stranger = people.stranger
    this.#blocked = people.blocked
    this.#ops = people.ops
    this.#byLevel = people.byLevel
  }

  fetch(path: string, init: RequestInit): Promise<Response> {
    return fetch(`${this.#listening.url}/api/v4${path}`, { redirect: 'manual', ...init })
  }

  /** A word that nothing is called yet. */
  word(stem: string): string {
    this.#made += 1
    return `${stem}-${this.#made}`
  }

  freshUser(): Promise<User> {
    return this.world.user(this.word('someone'))
  }

  /** A group or project below `ops`, with nothing in it. Private ones have `hidden` in their names. */
  fresh(kind: Parent['kind'], visibility: Visibility, parent: Group = this.#ops): Promise<Parent> {
    const path = this.word(visibility === 'private' ? 'hidden' : visibility)
    return kind === 'group'
      ? this.world.group(path, { parent, visibility })
      : this.world.project(path, parent, visibility)
  }

  /** One for all that only look. */
  shared(kind: Parent['kind'], visibility: Visibility): Promise<Parent> {
    const key = `${kind} ${visibility}`
    const made = this.#shared.get(key) ?? this.fresh(kind, visibility)
    this.#shared.set(key, made)
    return made
  }

  /** `undefined`: nobody. */
  personOf(row: MatrixRow, caller: Caller): User | undefined {
    if (caller === 'nobody') return undefined
    if (caller === 'administrator') return this.root
    const level = levelOf(row)
    if (caller === 'stranger') return this.stranger
    if (caller === 'below') return this.#byLevel.get(memberLevels[memberLevels.indexOf(level as 5) - 1]!)
    if (level !== undefined) return this.#byLevel.get(level)
    return row.may === 'administrators' ? this.root : this.stranger
  }

  /**
   * What a request carries. The same for all rows where it can be, as tokens cost time to make.
   *
   * @param parent what is asked about; `undefined` where there is no such thing
   */
  async headersOf(row: MatrixRow, caller: Caller, shown: Shown, parent: Parent | undefined): Promise<Headers> {
    const isBotOfParent =
      (shown.by === 'group token' && parent?.kind === 'group') ||
      (shown.by === 'project token' && parent?.kind === 'project') ||
      shown.by.endsWith('job')
    const user = this.personOf(row, caller === 'nobody' ? 'least' : caller)!
    const level = (levelOf(row) ?? 30) as AccessLevel
    const place = isBotOfParent ? `${parent?.kind} ${parent?.id}` : ''
    const key = JSON.stringify([shown.by, shown.scope, user.id, level, place])
    const known = row.endsCredential ? undefined : this.#credentials.get(key)
    const headers = known ?? this.#credential(shown, user, level, parent)
    if (!row.endsCredential) this.#credentials.set(key, headers)
    return { ...(await headers), ...this.#sudo(row, shown) }
  }

  #sudo(row: MatrixRow, { sudo }: Shown): Headers {
    if (sudo === undefined) return {}
    return { Sudo: sudo === 'ghost' ? 'ghost' : this.personOf(row, sudo)!.username }
  }

  async #credential({ by, scope = 'api' }: Shown, user: User, level: AccessLevel, parent?: Parent): Promise<Headers> {
    const { core } = this.world
    const person = scope === 'sudo' ? this.root : user
    switch (by) {
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
        if (by === 'ended job') await this.#asRoot(revokeJobToken, { id })
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
        return by === 'session' ? cookie : { ...cookie, 'X-CSRF-Token': csrfTokenOf(outcome.sessionSecret) }
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

  /** The user that a bot's token is for. */
  async botBehind(headers: Headers): Promise<User | undefined> {
    const userId = this.#botIds.get(headers['PRIVATE-TOKEN'] ?? '')
    return userId === undefined ? undefined : getUser(this.#reading(), userId)
  }

  #reading() {
    return { db: this.world.core.db.read, nowMs: this.world.clock.nowMs() }
  }

  /** How much has been changed so far: everything that changes something says so. */
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

/** What a row is asked about: those that change something get one of their own. */
export function parentOf(stage: Stage, row: MatrixRow, visibility: Visibility): Promise<Parent | undefined> {
  const kind = kindOf(row)
  if (kind === undefined) return Promise.resolve(undefined)
  return isRead(row) ? stage.shared(kind, visibility) : stage.fresh(kind, visibility)
}
