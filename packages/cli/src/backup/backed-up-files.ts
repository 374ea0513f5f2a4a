import { SECRETS_KEY_FILE } from '../core/open-core.ts'

/** The file that records which plane a data directory was used with, and its last mode. */
export const PLANE_FILE = 'plane.json'

/** The small files of the data directory, beside databases and repositories, that a backup contains. */
export const backedUpFiles = [
  { name: SECRETS_KEY_FILE, part: 'core', isKey: true },
  { name: 'pepper', part: 'gateway', isKey: true },
  { name: 'pepper-salt', part: 'gateway', isKey: true },
  { name: PLANE_FILE, part: 'gateway', isKey: false },
] as const
