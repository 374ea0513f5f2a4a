import { readdir } from 'node:fs/promises'
import type { Permission, User } from '@penstock/core'
import type { MatrixRow } from './http-matrix-row.ts'
import type { MatrixServer, Parent } from './http-matrix-server.ts'

/**
 * The part of an area in the access matrix and in the HTTP matrix. Each file in `areas/` exports one as `area`; a file is found
 * by its place.
 */
export interface MatrixArea {
  /** The rows of its permissions. */
  readonly access: Readonly<Partial<Record<Permission, AccessRow>>>
  /** The rows of its routes. */
  readonly rows: readonly MatrixRow[]
  /** Its things, by the names that rows use in `needs`. */
  readonly things: Readonly<Record<string, Maker>>
}

/**
 * The expected answers: `y` allowed, `n` forbidden, `-` not found. Each row has three words: for a private, an internal and
 * a public subject. The letters of a word represent an anonymous caller, a signed-in user without a role, members with
 * level 5, 10, 15, 20, 25, 30, 40 and 50, and an administrator. Members of a project cannot have level 5, which is treated as
 * no role there.
 */
export interface AccessRow {
  /** Who has the permission, in words. */
  readonly rule: string
  readonly group?: string
  readonly project?: string
}

/** Creates a thing on behalf of the administrator, and returns its parameters. */
export type Maker = (context: ThingContext) => Promise<Values>

export interface ThingContext {
  readonly server: MatrixServer
  /** The group or project of `:id`, if the row has one. */
  readonly parent: Parent | undefined
  /** The calling user; for anonymous requests the administrator. */
  readonly caller: User
}

/** Parameters of paths and bodies by name. */
export type Values = Readonly<Record<string, string | number>>

/** Returns the areas of all files in `areas/`. */
export async function matrixAreas(): Promise<MatrixArea[]> {
  const directory = new URL('./areas/', import.meta.url)
  const names = (await readdir(directory)).sort()
  return Promise.all(
    names.map(async (name) => ((await import(new URL(name, directory).href)) as { readonly area: MatrixArea }).area),
  )
}
