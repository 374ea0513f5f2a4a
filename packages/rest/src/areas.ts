import type { Area } from './route.ts'

/** Every area of the REST API. Where two routes match, the first does. */
export const areas: readonly Area[] = []
