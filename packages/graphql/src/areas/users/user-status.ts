import type { Kit } from '../../schema/kit.ts'

/** The status that a user sets. This service has none; the type exists for documents that select it. */
interface UserStatus {
  readonly availability: 'BUSY' | 'NOT_SET'
  readonly emoji?: string
  readonly message?: string
  readonly messageHtml?: string
  readonly clearStatusAtMs?: number
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    UserStatus: UserStatus
  }
}

export function addUserStatus({ builder }: Kit): void {
  const availability = builder.enumType('AvailabilityEnum', { values: ['BUSY', 'NOT_SET'] as const })
  builder.objectType('UserStatus', {
    fields: (t) => ({
      availability: t.field({ type: availability, nullable: false, resolve: (status) => status.availability }),
      emoji: t.exposeString('emoji'),
      message: t.exposeString('message'),
      messageHtml: t.exposeString('messageHtml'),
      clearStatusAt: t.field({ type: 'Time', resolve: ({ clearStatusAtMs }) => clearStatusAtMs }),
    }),
  })
}
