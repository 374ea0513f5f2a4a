import { World } from '@penstock/testkit'
import { afterEach, beforeEach } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'

export let world: World
export let mira: User
/** The private project `ops/tools`. */
export let project: Project

/** Gives each test a world with a project, in which mira has the role. */
export function inProjectWorld(role: keyof typeof accessLevels): void {
  beforeEach(async () => {
    world = await World.open()
    mira = await world.user('mira')
    project = await world.project('tools', await world.group('ops'))
    await world.member(project, mira, accessLevels[role])
  })
  afterEach(() => world.close())
}
