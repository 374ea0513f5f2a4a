import type { Forge } from './forge/forge.ts'
import { gitlab } from './gitlab/gitlab.ts'

/** All forges. To add one, see docs/contributing/adding-a-forge.md. */
export const forges = [gitlab] as const satisfies readonly Forge[]

export type ForgeName = (typeof forges)[number]['name']

/** Returns the forge with this name. */
export const getForge = <Name extends ForgeName>(name: Name) =>
  forges.find((forge) => forge.name === name) as Extract<(typeof forges)[number], { readonly name: Name }>
