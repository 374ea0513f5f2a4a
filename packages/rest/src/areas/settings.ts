import {
  getApplicationSettings,
  type SettingsRecord,
  settingsRecordFields,
  updateApplicationSettings,
} from '@penstock/core'
import { jsonShape, membersOf } from '../routing/json-shape.ts'
import { type Area, route } from '../routing/route.ts'
import { changedSettings } from './parameters/settings.ts'

const settingsShape = jsonShape<SettingsRecord>('ApplicationSettings', membersOf(settingsRecordFields))

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
