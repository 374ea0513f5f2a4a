import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Core } from '@penstock/core'

/**
 * Returns the path of the directory of a repository, which ends with random digits: that of `snippets/31` is
 * `snippets/31-9c2e….git`. Without one, the path does not exist.
 */
export function repositoryPath(
  { settings }: { readonly settings: Pick<Core['settings'], 'repositoriesDir'> },
  name: string | number,
): string {
  const path = join(settings.repositoriesDir, String(name))
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : []
  return join(
    dirname(path),
    names.find((each) => each.startsWith(`${basename(path)}-`) && each.endsWith('.git')) ??
      `${basename(path)}-none.git`,
  )
}
