import {
  getApplicationSettings,
  PLATFORM_AVAILABILITY,
  platformNames,
  type SettingsRecord,
  settingsRecordFields,
  updateApplicationSettings,
} from '@penstock/core'
import { jsonShape, membersOf } from '../routing/json-shape.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { changedSettings } from './parameters/settings.ts'

const plainShape = jsonShape<SettingsRecord>('ApplicationSettings', membersOf(settingsRecordFields))

/** The service name with which clients of GitLab take the service for a GitLab. */
const PLATFORM = 'gitlab'

/** The record, with the names and types that clients of GitLab read if the service is called `gitlab`. */
const settingsShape: Shape<SettingsRecord> = {
  schema: plainShape.schema,
  of(record, context) {
    const plain = plainShape.of(record, context) as Readonly<Record<string, unknown>>
    if (context.serviceName !== PLATFORM) return plain
    const renamed = Object.entries(platformNames).map(([platformName, name]) => [platformName, plain[name]])
    return {
      ...plain,
      ...Object.fromEntries(renamed),
      [PLATFORM_AVAILABILITY]: plain.ai_availability,
      // GitLab stores it as a decimal, which its JSON has as text.
      polling_interval_multiplier: String(plain.polling_interval_multiplier),
    }
  },
}

export const settingsArea: Area = {
  tag: 'Application settings',
  routes: [
    route({
      method: 'GET',
      path: '/application/settings',
      operation: getApplicationSettings,
      summary: 'Get the application settings',
      shape: settingsShape,
    }),
    route({
      method: 'PUT',
      path: '/application/settings',
      operation: updateApplicationSettings,
      parameters: changedSettings,
      summary: 'Change application settings',
      shape: settingsShape,
    }),
  ],
}
