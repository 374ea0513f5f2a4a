import type { Db } from '@penstock/db'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { CoreDatabaseTables } from '../core/open-core.ts'
import { exportConfig } from '../settings/export-config.ts'
import { readSettings } from '../settings/read-settings.ts'
import { coreExportListener } from './core-exports.ts'
import { Exporting } from './exporting.ts'

test.each([
  ['{"object_kind": "pipeline"', /^/],
  ['{"object_kind": "pipeline"}', /object_attributes/],
])('refuses the payload %s, which is not a record, with a message for clients', async (payload, about) => {
  const world = await World.open()
  onTestFinished(() => world.close())
  const project = await world.project('tools', await world.group('ops'))
  const { exporter } = new Exporting({
    core: world.core,
    db: world.core.db as Db<CoreDatabaseTables>,
    config: exportConfig(readSettings(undefined, {})),
    ownGateway: 'http://127.0.0.1:4318',
    random: () => 0,
    log: silentLog,
  })
  const hearing = world.core.db.write((db) =>
    coreExportListener(exporter).onEvent(
      {
        ...{ actor: undefined, core: world.core, request: {}, db, nowMs: 0 },
        recordEvent: async () => {},
        recordEvents: async () => {},
        afterCommit: () => {},
      },
      { type: 'pipeline.created', objectId: 1, projectId: project.id, payload },
    ),
  )
  await expect(hearing).rejects.toMatchObject({
    failure: { code: 'refused', message: expect.stringMatching(about) },
  })
})
