import { createUser, type User } from '@penstock/core'
import type { Page } from 'playwright-core'
import { ServedWorld } from '../graphql/served-world.ts'

const PASSWORD = 'correct horse 1'

/** Starts a world with an administrator, `root`, and a user who can sign in with a password, `mira`. */
export async function serveUser(): Promise<{
  readonly served: ServedWorld
  readonly root: User
  readonly mira: User
}> {
  const served = await ServedWorld.start()
  const root = await served.world.user('root', { isAdministrator: true })
  const { user: mira } = await served.world.perform(root, createUser, {
    ...{ username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: PASSWORD, skipConfirmation: true },
  })
  return { served, root, mira }
}

/** Signs in as `mira` on the sign-in page. */
export async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Username or e-mail').fill('mira')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
