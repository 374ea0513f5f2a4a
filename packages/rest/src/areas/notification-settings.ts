import {
  type GlobalNotificationSetting,
  getNotificationSetting,
  groupNotificationSettings,
  type NotificationSetting,
  notificationLevels,
  notificationSwitches,
  projectNotificationSettings,
  updateNotificationSetting,
} from '@penstock/core'
import { z } from 'zod'
import { snakeCase } from '../routing/parameter-names.ts'
import { type Area, route, type Shape } from '../routing/route.ts'

const level = z.enum(notificationLevels)
/** Null for an event that has never been set. */
const events = z
  .object(Object.fromEntries(notificationSwitches.map((name) => [snakeCase(name), z.boolean().nullable()])))
  .optional()

/** Returns the member `events`, which a setting has only while its level is `custom`. */
const eventsOf = ({ level, switches }: NotificationSetting) =>
  level === 'custom'
    ? { events: Object.fromEntries(notificationSwitches.map((name) => [snakeCase(name), switches[name] ?? null])) }
    : {}

const globalShape: Shape<GlobalNotificationSetting> = {
  schema: z.object({ level, notification_email: z.string(), events }).meta({ id: 'GlobalNotificationSettings' }),
  of: (setting) => ({
    level: setting.level,
    notification_email: setting.notificationEmail,
    ...eventsOf(setting),
  }),
}

const shape: Shape<NotificationSetting> = {
  schema: z.object({ level, events }).meta({ id: 'NotificationSettings' }),
  of: (setting) => ({ level: setting.level, ...eventsOf(setting) }),
}

const names = { parent: 'id' } as const
const parameters = { noEffect: { notification_email: 'the address is set for everything' } }

export const notificationSettingsArea: Area = {
  tag: 'Notification settings',
  routes: [
    route({
      method: 'GET',
      path: '/notification_settings',
      operation: getNotificationSetting,
      summary: 'Get the notification settings of the current user for everything.',
      shape: globalShape,
    }),
    route({
      method: 'PUT',
      path: '/notification_settings',
      operation: updateNotificationSetting,
      summary: 'Update the notification settings of the current user for everything.',
      shape: globalShape,
    }),
    ...(['group', 'project'] as const).flatMap((kind) => {
      const { get, update } = { group: groupNotificationSettings, project: projectNotificationSettings }[kind]
      return [
        route({
          method: 'GET',
          path: `/${kind}s/:id/notification_settings`,
          operation: get,
          summary: `Get the notification settings of the current user for a ${kind}.`,
          names,
          shape,
        }),
        route({
          method: 'PUT',
          path: `/${kind}s/:id/notification_settings`,
          operation: update,
          summary: `Update the notification settings of the current user for a ${kind}.`,
          names,
          parameters,
          shape,
        }),
      ]
    }),
  ],
}
