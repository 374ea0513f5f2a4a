import { z } from 'zod'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import { PLATFORM_AVAILABILITY, platformNamesFor } from './platform-names.ts'
import type { Setting } from './table/setting.ts'
import { type SettingName, settingRows } from './table/setting-table.ts'

/** The parameters, by name, as a request has sent them. */
export type SettingsInput = Readonly<Record<string, unknown>>

/** The names of parameters that set the same setting: its own, former ones, and those of GitLab. */
export const namesOf = (name: string, { oldNames = [], oldParameters = [] }: Setting): readonly string[] => [
  name,
  ...oldNames,
  ...oldParameters,
  ...platformNamesFor(name),
]

const anything = z.unknown().optional()

const schemaOf = ({ details, isTyped, about }: Setting): z.ZodType =>
  (isTyped ? details.schema.nullish() : anything).meta({ description: about })

const PASSWORD: SettingName = 'password_authentication_enabled_for_web'

export const updateSettingsInput = z
  .object({
    ...Object.fromEntries(
      settingRows.flatMap(([name, setting]) => namesOf(name, setting).map((each) => [each, schemaOf(setting)])),
    ),
    /** Any other text means `never_on`. */
    ai_availability: z.string().max(255).nullish(),
    [PLATFORM_AVAILABILITY]: z.string().max(255).nullish(),
  } as Readonly<Record<string, z.ZodType>>)
  .superRefine((input: SettingsInput, context) => {
    for (const [name, { companions = [] }] of settingRows) {
      const sent = [name, ...platformNamesFor(name)].find((each) => input[each] === true)
      if (sent === undefined) continue
      for (const companion of companions) {
        const names = [companion, ...platformNamesFor(companion)]
        if (names.some((each) => input[each] !== undefined)) continue
        context.addIssue(problem('missing', { path: [sent === name ? companion : (names[1] ?? companion)] }))
      }
    }
    const sent = passwordNames.filter((name) => input[name] !== undefined && input[name] !== null)
    // A record that was read has all three, and may be sent back.
    const isWholeRecord = sent.length === passwordNames.length && new Set(sent.map((name) => input[name])).size === 1
    if (sent.length > 1 && !isWholeRecord) context.addIssue(problem('mutually_exclusive', { names: sent }))
  }, acrossParameters)

const passwordNames = settingRows.flatMap(([name, setting]) => (name === PASSWORD ? namesOf(name, setting) : []))
