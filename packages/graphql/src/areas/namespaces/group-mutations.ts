import { updateGroup } from '@penstock/core'
import { performIn } from '../../request/request-context.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'

/** Adds the mutations of groups, and the fields that show what they change. */
export function addGroupMutations(kit: Kit): void {
  const { builder } = kit
  const { visibility } = sharedEnums(kit)
  const sharedRunners = builder.enumType('SharedRunnersSetting', {
    values: {
      ENABLED: { value: 'enabled' },
      DISABLED_AND_OVERRIDABLE: { value: 'disabled_and_overridable' },
      DISABLED_AND_UNOVERRIDABLE: { value: 'disabled_and_unoverridable' },
      DISABLED_WITH_OVERRIDE: {
        value: 'disabled_with_override',
        deprecationReason: 'Use DISABLED_AND_OVERRIDABLE.',
      },
    } as const,
  })
  builder.objectFields('Group', (t) => ({
    sharedRunnersSetting: t.field({
      type: sharedRunners,
      resolve: ({ settings }) => settings.sharedRunnersSetting,
    }),
    mathRenderingLimitsEnabled: t.boolean({ resolve: ({ settings }) => settings.mathRenderingLimitsEnabled }),
    lockMathRenderingLimitsEnabled: t.boolean({ resolve: ({ settings }) => settings.lockMathRenderingLimitsEnabled }),
  }))
  mutation(kit, 'groupUpdate', {
    description: 'Changes a group, for owners',
    input: (t) => ({
      fullPath: t.id({ required: true }),
      name: t.string(),
      path: t.string(),
      visibility: t.field({ type: visibility }),
      sharedRunnersSetting: t.field({ type: sharedRunners }),
      mathRenderingLimitsEnabled: t.boolean(),
      lockMathRenderingLimitsEnabled: t.boolean(),
    }),
    run: async ({ fullPath, sharedRunnersSetting: setting, ...changes }, context) => {
      // GitLab stores the deprecated value under its new name.
      const sharedRunnersSetting = setting === 'disabled_with_override' ? 'disabled_and_overridable' : setting
      const input = { group: fullPath, ...omitNullish({ ...changes, sharedRunnersSetting }) }
      return { group: await performIn(context, updateGroup, input) }
    },
    payload: (t) => ({ group: t.field({ type: 'Group', resolve: ({ group }) => group }) }),
  })
}
