import { faviconOfStatus, type StatusWording } from '@penstock/core'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'

/** The status of a pipeline, stage, job group or job, as shown to people. */
export interface DetailedStatus {
  readonly wording: StatusWording
  readonly subjectId: number | string
  readonly path: string | undefined
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    DetailedStatus: DetailedStatus
    StatusAction: StatusAction
  }
}

/** An action on a status, such as a retry. There are none, because pipelines run elsewhere. */
interface StatusAction {
  readonly id: string
}

export function addDetailedStatus({ builder, globalIds }: Kit): void {
  builder.objectType('StatusAction', {
    description: 'Button that belongs to a status, for example retry',
    fields: (t) => {
      const { nullText } = constantFields(t)
      return {
        id: t.exposeString('id', { nullable: false }),
        buttonTitle: nullText(),
        icon: nullText(),
        method: nullText(),
        path: nullText(),
        title: nullText(),
        confirmationMessage: nullText(),
      }
    },
  })

  builder.objectType('DetailedStatus', {
    fields: (t) => ({
      id: t.string({
        nullable: false,
        resolve: ({ wording, subjectId }) =>
          globalIds.ofType('DetailedStatus', `${wording.group}-${subjectId}-${subjectId}`),
      }),
      name: t.string({
        description: 'Machine name in upper case',
        resolve: ({ wording }) => wording.group.replaceAll('-', '_').toUpperCase(),
      }),
      label: t.string({
        description: 'Text for people',
        ...withCost(repositoryRead),
        resolve: ({ wording }) => wording.label,
      }),
      tooltip: t.string({ resolve: ({ wording }) => wording.label }),
      favicon: t.string({ resolve: ({ wording }) => faviconOfStatus(wording) }),
      hasDetails: t.boolean({ resolve: ({ path }) => path !== undefined }),
      detailsPath: t.exposeString('path'),
      deploymentDetailsPath: t.string({ resolve: () => null }),
      action: t.field({ type: 'StatusAction', ...withCost(repositoryRead), resolve: () => null }),
      group: t.string({
        deprecationReason: 'Use name. Since 16.4.',
        resolve: ({ wording }) => wording.group,
      }),
      icon: t.string({
        deprecationReason: 'Use name to pick the picture. Since 16.4.',
        resolve: ({ wording }) => wording.icon,
      }),
      text: t.string({
        deprecationReason: 'Use label. Since 16.4.',
        resolve: ({ wording }) => wording.text,
      }),
    }),
  })
}
