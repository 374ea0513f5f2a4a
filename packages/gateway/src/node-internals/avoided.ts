import type { NodeInternal } from '../contract/gateway-config.ts'

/** The undocumented parts of Node that this process does not use although its Node has them. */
export const avoided: Record<NodeInternal, boolean> = {
  'request-bodies': false,
  'latin1-text': false,
  'gunzip-length': false,
  'http1-handover': false,
}

/** Replaces the selection. It applies to what begins afterwards, in the whole process. */
export function avoidNodeInternals(names: readonly NodeInternal[]): void {
  for (const name of Object.keys(avoided) as NodeInternal[]) avoided[name] = names.includes(name)
}
