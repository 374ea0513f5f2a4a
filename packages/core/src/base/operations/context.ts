import type { Db, ReadLimit } from '@penstock/db'
import type { Clock } from '@penstock/runtime'
import type { ReadContext, WriteContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { HookCallResult } from '../model/hook-calls.ts'
import type { Markup } from '../model/markup.ts'
import type { Project } from '../model/project.ts'
import type { SpamCheck, SpamReport } from '../model/spam-check.ts'
import type { Actor } from '../model/user.ts'
import type { SettingValues } from '../settings/table/setting-table.ts'
import type { DomainEvent } from './event.ts'
import type { RequestFacts } from './request-facts.ts'

/** The resources that operations use. There is one for the life of the process. */
export interface Core {
  readonly db: Db<CoreTables>
  /** Limits the texts that the operation reads from repositories. Default: no limit. */
  readonly readLimit?: ReadLimit
  readonly clock: Clock
  /** Returns random bytes of the system's CSPRNG. */
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly settings: CoreSettings
  /** Called in this order. */
  readonly listeners?: readonly EventListener[]
  /** Sends requests to the receivers of hooks. Default: hooks can be managed, but not be tested. */
  readonly hookCalls?: HookCalls
  /** Default: no check. */
  readonly spamCheck?: SpamCheck
  /** Default: texts are not rendered. */
  readonly markup?: Markup
  /** Default: there is no spam-detection service to report to. */
  readonly spamReport?: SpamReport
  /** Returns why no request may be sent to an IP address, if it is not a public one. Default: all are accepted. */
  readonly localAddressReason?: (address: string) => string | undefined
}

/** Sends requests to the receivers of hooks. */
export interface HookCalls {
  /** Returns why no request may be sent to a URL, if there is a reason. A host that cannot be resolved is accepted. */
  findBlockReason(core: Core, url: URL): Promise<string | undefined>
  /** Calls a hook with a sample of an event, also if it is disabled, and stores the call in the event log. */
  test(
    context: CallContext,
    call: { readonly projectId: number; readonly hookId: number; readonly event: string },
  ): Promise<HookCallResult>
  /** Sends a call in the event log again, and stores the new call there. */
  resend(context: CallContext, call: { readonly hookId: number; readonly callId: number }): Promise<HookCallResult>
}

export interface CoreSettings {
  /** A short name such as `svc`, used in user names and identifiers. */
  readonly serviceName: string
  /** The beginning of every generated URL, without a slash at the end. */
  readonly externalUrl: string
  /** The directory of the repositories. */
  readonly repositoriesDir: string
  /** The 32 bytes that encrypt secrets in the database; stored outside the database. */
  readonly secretsKey: Uint8Array
  /** The bytes that a project may store, in its repository and in pipeline records; 0 for no limit. */
  readonly projectStorageBytes: number
  readonly impersonationEnabled: boolean
  /** How long a process uses application settings before it reads them again; 0 to read them at every use. */
  readonly settingsCacheSeconds: number
  /** The name of the Geo node that this process belongs to. Default: the external URL with a slash at the end. */
  readonly geoNodeName?: string
  /** Application settings that the configuration of the process fixes. */
  readonly pinnedSettings: Partial<SettingValues>
}

/** A transaction. No other write runs between its statements, so never await anything slow in it. */
export interface Tx extends WriteContext {
  /** Stores the event and calls its listeners, in this transaction. */
  recordEvent(event: DomainEvent): Promise<void>
  /** Stores events that happened together, then calls the listeners of each, in this transaction. */
  recordEvents(events: readonly DomainEvent[]): Promise<void>
  /**
   * Runs `work` after the transaction has committed and before the caller gets the result. The process may end in between,
   * so the next start must be able to find and finish the work. The same function runs once, however often it is passed. An
   * error in `work` is ignored.
   */
  afterCommit(work: (core: Core) => Promise<void>): void
}

/** The database to read from, with the caller if the result depends on what they may see. */
export interface ActorContext extends ReadContext {
  readonly actor?: Actor
}

export interface OperationContext {
  readonly actor: Actor
  readonly core: Core
  readonly request: RequestFacts
}

/** The context of an operation on a project. */
export interface InProject extends ReadContext, OperationContext {
  readonly subject: Project
}

/** The context of one call of an operation. */
export interface CallContext extends OperationContext {
  /**
   * Checks that the object has not changed since the time that the request names, if it names one. A conditional operation
   * must call it, after the check of the permission and before the change; with `undefined` if there is no object.
   *
   * @throws DomainError `changed_since`
   */
  requireUnmodified(changedAtMs: number | undefined): void
}

/**
 * Receives events inside the transaction that stores them: its writes commit with the event, and an error rolls back
 * both. It must not await anything slow.
 */
export interface EventListener {
  readonly types: ReadonlySet<DomainEvent['type']>
  onEvent(context: OperationContext & Tx, event: DomainEvent): Promise<void>
  /** Receives several events that were recorded together, in their order. Default: `onEvent` gets one after the other. */
  onEvents?(context: OperationContext & Tx, events: readonly DomainEvent[]): Promise<void>
  /**
   * Does the slow work on a large payload, before the transaction and off the event loop. `onEvent` finds the result in
   * `event.prepared`, and must not rely on it: the project may have changed in between.
   */
  prepare?(core: Core, project: Project, payload: string): Promise<unknown>
}

/** Returns the context for reads outside of operations. */
export const readContextOf = (core: Core): ReadContext => ({ db: core.db.read, nowMs: core.clock.nowMs() })
