import { expect, test } from 'vitest'
import { consolePaths } from '../../packages/gateway/src/admin/console-routes.ts'
import { routes } from '../../packages/web/src/routes.ts'

/** Returns a path without the names of its parameters, which the two lists write differently. */
const shapeOf = (path: string) => path.replace(/:\w+/g, ':')

test('the service answers the path of every page, so that a page can be reloaded', () => {
  const served = consolePaths.filter((path) => path !== '/').map(shapeOf)
  expect(routes.map(({ path }) => shapeOf(path)).toSorted()).toEqual(served.toSorted())
})
